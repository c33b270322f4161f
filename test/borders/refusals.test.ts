/**
 * Proves that people read what a provider said, in whatever form it said it, with the kind of failure that leads to fitting advice: a model that does not exist
 * (with the nearest that does), tools that are not taken, a key that is not valid, an address that is none.
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { Gate } from '../../src/models/gate/gate.ts';
import { providerConfig } from '../../src/models/provider/provider-config.ts';
import { openModel } from '../../src/models/providers.ts';
import { ask, PROTOCOLS } from '../models/protocols.ts';
import type { Protocol } from './raw-answers.ts';

let refusal: readonly [status: number, body: unknown] = [400, ''];
let list: unknown;
let posts = 0;
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    posts += request.method === 'POST' ? 1 : 0;
    const [status, body] = request.method === 'GET' ? [200, list] : refusal;
    response.writeHead(status, {
      'content-type': typeof body === 'string' ? 'text/plain' : 'application/json',
    });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
});
before(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
after(() => {
  server.closeAllConnections();
  server.close();
});

async function failure(type: Protocol, model = 'claud-sonnet') {
  const { path } = PROTOCOLS.find((one) => one.type === type) as (typeof PROTOCOLS)[number];
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  const name = `local/${model}`;
  posts = 0;
  const opened = await openModel(name, {
    providers: { local: { type, baseURL, apiKeyEnv: 'KEY' } },
    env: { KEY: 'secret-key-1' },
    gates: new Map([[name, new Gate({ attempts: 2, patience_ms: 0, base_ms: 1, max_ms: 1 })]]),
  });
  const outcome = await opened.stream(ask(), () => undefined);
  assert.ok(outcome.type === 'failure', JSON.stringify(outcome));
  assert.ok(!outcome.failure.error.includes('secret-key-1'));
  return outcome.failure;
}

type Case = readonly [
  name: string,
  type: Protocol,
  refusal: readonly [number, unknown],
  kind: string,
  text: RegExp,
];

const CASES: readonly Case[] = [
  [
    'Anthropic',
    'anthropic',
    [404, { type: 'error', error: { type: 'not_found_error', message: 'model: claud-sonnet' } }],
    'no_model',
    /does not have this model.*404: model: claud-sonnet/,
  ],
  [
    'OpenAI',
    'openai',
    [
      404,
      {
        error: {
          message: 'The model `claud-sonnet` does not exist or you do not have access to it.',
          type: 'invalid_request_error',
          code: 'model_not_found',
        },
      },
    ],
    'no_model',
    /does not exist or you do not have access/,
  ],
  [
    'OpenAI, with 400',
    'openai',
    [400, { error: { message: 'The requested model is unavailable', code: 'model_not_found' } }],
    'no_model',
    /unavailable/,
  ],
  [
    'Google',
    'google',
    [
      404,
      {
        error: {
          code: 404,
          message:
            'models/claud-sonnet is not found for API version v1beta, or is not supported for generateContent.',
          status: 'NOT_FOUND',
        },
      },
    ],
    'no_model',
    /is not found for API version/,
  ],
  [
    'Ollama',
    'openai-compatible',
    [404, { error: { message: 'model "claud-sonnet" not found, try pulling it first', type: 'api_error' } }],
    'no_model',
    /try pulling it first/,
  ],
  [
    'Ollama, as text',
    'openai-compatible',
    [404, { error: "model 'claud-sonnet' not found" }],
    'no_model',
    /model 'claud-sonnet' not found/,
  ],
  [
    'OpenRouter',
    'openai-compatible',
    [400, { error: { message: 'claud-sonnet is not a valid model ID', code: 400 } }],
    'no_model',
    /not a valid model ID/,
  ],
  [
    'vLLM',
    'openai-compatible',
    [
      404,
      {
        object: 'error',
        message: 'The model `claud-sonnet` does not exist.',
        type: 'NotFoundError',
        code: 404,
      },
    ],
    'no_model',
    /does not exist/,
  ],
  [
    'an address that is none',
    'openai-compatible',
    [404, '404 page not found'],
    'no_model',
    /or not at this address \(http:.*\/chat\/completions\): 404: 404 page not found/,
  ],
  [
    'a web page',
    'openai-compatible',
    [404, '<html>nothing here</html>'],
    'no_model',
    /\/chat\/completions\): 404: nothing here$/,
  ],
  [
    'a page of a gateway, with all that nobody reads',
    'openai-compatible',
    [
      400,
      '<!DOCTYPE html><html><head><title>503</title><style>a { color: red }</style></head><body><!-- <b> -->' +
        '<script>if (a < b) x("<p>")</script><center><h1>400 We are&nbsp;down</h1></center><p>Back at 18:00 &amp;\n later.' +
        '<hr>nginx/1.18.0</body></html>',
    ],
    'bad_request',
    /^400: We are down Back at 18:00 & later\. nginx\/1\.18\.0$/,
  ],
  [
    'a page whose words only its title has',
    'openai-compatible',
    [
      400,
      '<html><head><title>400 No cookies, no tea</title></head><body><svg><text>x</text></svg></body></html>',
    ],
    'bad_request',
    /^400: No cookies, no tea$/,
  ],
  [
    'an error in XML',
    'openai-compatible',
    [
      403,
      '<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>',
    ],
    'auth',
    /^403: AccessDenied Request has expired \(the key/,
  ],
  [
    'a page without a word',
    'openai-compatible',
    [400, '<html><img src="x"'],
    'bad_request',
    /^400: Bad Request$/,
  ],
  [
    'no tools (Ollama)',
    'openai-compatible',
    [400, { error: { message: 'registry.ollama.ai/library/gemma:2b does not support tools' } }],
    'no_tools',
    /does not support tools/,
  ],
  [
    'no tools (vLLM)',
    'openai-compatible',
    [
      400,
      {
        object: 'error',
        message: '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
      },
    ],
    'no_tools',
    /--enable-auto-tool-choice/,
  ],
  [
    'no tools (OpenRouter)',
    'openai-compatible',
    [404, { error: { message: 'No endpoints found that support tool use.', code: 404 } }],
    'no_tools',
    /No endpoints found/,
  ],
  [
    'one tool (OpenAI)',
    'openai',
    [
      400,
      {
        error: {
          message: "Invalid schema for function 'fork': In context=(), array schema missing items.",
          param: 'tools[0].parameters',
          code: 'invalid_function_parameters',
        },
      },
    ],
    'no_tools',
    /array schema missing items/,
  ],
  [
    'one tool (Anthropic)',
    'anthropic',
    [
      400,
      {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: 'tools.0.custom.input_schema.properties: Property keys should match pattern',
        },
      },
    ],
    'no_tools',
    /Property keys should match/,
  ],
  [
    'a key that is not valid (Google)',
    'google',
    [
      400,
      {
        error: {
          code: 400,
          message: 'API key not valid. Please pass a valid API key.',
          status: 'INVALID_ARGUMENT',
          details: [{ reason: 'API_KEY_INVALID' }],
        },
      },
    ],
    'auth',
    /API key not valid.*KEY/,
  ],
  [
    'a key that is not valid (OpenAI)',
    'openai',
    [401, { error: { message: 'Incorrect API key provided', code: 'invalid_api_key' } }],
    'auth',
    /Incorrect API key/,
  ],
  [
    'detail as text (FastAPI)',
    'openai-compatible',
    [400, { detail: 'the sky is red' }],
    'bad_request',
    /^400: the sky is red/,
  ],
  [
    'detail as a list (pydantic)',
    'openai-compatible',
    [422, { detail: [{ loc: ['body'], msg: 'value is not a valid dict' }] }],
    'bad_request',
    /^422: value is not a valid dict/,
  ],
  [
    'a list of errors',
    'openai-compatible',
    [400, { errors: [{ message: 'one' }, { message: 'two' }] }],
    'bad_request',
    /^400: one; two/,
  ],
  [
    'a list around the error',
    'openai-compatible',
    [400, [{ error: { code: 400, message: 'around' } }]],
    'bad_request',
    /^400: around/,
  ],
  [
    'an error within an error',
    'openai-compatible',
    [400, { error: { message: { error: { message: 'deep' } } } }],
    'bad_request',
    /^400: deep/,
  ],
  ['plain text', 'openai-compatible', [400, 'out of cheese'], 'bad_request', /^400: out of cheese/],
  ['nothing at all', 'openai-compatible', [400, ''], 'bad_request', /^400: Bad Request/],
  [
    'a message of another name',
    'openai-compatible',
    [400, { msg: 'named otherwise' }],
    'bad_request',
    /named otherwise/,
  ],
];

describe('people read what the provider said', () => {
  for (const [name, type, said, kind, text] of CASES)
    it(name, async () => {
      [refusal, list] = [said, {}];
      const { kind: found, error, retryable } = await failure(type);
      // Without the tool that is named, the request is sent once more.
      assert.deepEqual([found, retryable, posts], [kind, false, name.startsWith('one tool') ? 2 : 1], error);
      assert.match(error, text);
    });
});

describe('a model that does not exist', () => {
  const missing = [404, { error: { message: 'model not found' } }] as const;
  it('is told with the nearest that does', async () => {
    for (const [type, models] of [
      ['openai-compatible', { data: [{ id: 'qwen3:8b' }, { id: 'claude-sonnet' }] }],
      ['anthropic', { data: [{ id: 'claude-sonnet' }] }],
      ['google', { models: [{ name: 'models/gemini' }, { name: 'models/claude-sonnet' }] }],
    ] as const) {
      [refusal, list] = [missing, models];
      assert.match((await failure(type)).error, /; did you mean claude-sonnet\?$/);
    }
  });

  it('is told with what there is, if nothing is near', async () => {
    [refusal, list] = [missing, { data: ['a1', 'b2', 'c3', 'd4', 'e5', 'f6'].map((id) => ({ id })) }];
    assert.match(
      (await failure('openai-compatible', 'something-else')).error,
      /; it has a1, b2, c3, d4, e5, and 1 more$/,
    );
  });

  it('is told alone, if the server lists none', async () => {
    for (const odd of ['no', {}, { data: 'x' }, { data: [null, { id: 7 }, { id: 'esc\u001b[31m' }] }]) {
      [refusal, list] = [missing, odd];
      assert.match((await failure('openai-compatible')).error, /: 404: model not found$/);
    }
  });
});

it('an address without a scheme is a fault of the configuration, which names the key', () => {
  for (const baseURL of ['localhost:11434/v1', 'api.example.com', '127.0.0.1:8080', 'ftp://example.com'])
    assert.match(
      JSON.stringify(providerConfig.safeParse({ type: 'openai-compatible', baseURL }).error?.issues),
      /baseURL.*http:\/\//,
      baseURL,
    );
});
