/**
 * Proves that a tool because of which a provider refuses a request, by status or in a stream, is set aside for that model: the request is sent again without it,
 * people are told, and later requests are sent without it until the tool changes. A refusal of something else costs no tool, and if what is sent instead fails,
 * people read the refusal, too.
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import type { Model, ModelOutcome } from '../../src/models/model.ts';
import type { ToolSpec } from '../../src/records/tool.ts';
import { ask, connect, PROTOCOLS } from '../models/protocols.ts';
import { GOOD } from './good-answers.ts';
import { type Protocol, streamOf } from './raw-answers.ts';

/** A list is the events of a stream. */
type Refusal = readonly [status: number, body: unknown];

const tool = (name: string): ToolSpec => ({
  name,
  description: name,
  input: { type: 'object', properties: {} },
});
const TOOLS = ['bash', 'q__arr', 'q__ok', 'read'].map(tool);

// biome-ignore lint/suspicious/noExplicitAny: bodies of four protocols
function namesIn({ tools = [] }: any): string[] {
  const declared = tools[0]?.functionDeclarations ?? tools;
  return declared.map(
    (one: { name?: string; function?: { name: string } }) => one.name ?? one.function?.name,
  );
}

interface Stage {
  readonly model: Model;
  readonly sent: string[][];
  readonly told: string[];
  send(tools?: readonly ToolSpec[]): Promise<ModelOutcome>;
}

/** A server that refuses the requests for which `refusal` returns something. */
async function stage(
  test: TestContext,
  type: Protocol,
  refusal: (names: string[]) => Refusal | null,
): Promise<Stage> {
  const [sent, told]: [string[][], string[]] = [[], []];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const piece of request) text += piece;
    const names = namesIn(JSON.parse(text));
    sent.push(names);
    const refused = refusal(names);
    if (refused === null)
      return response.writeHead(200, { 'content-type': 'text/event-stream' }).end(streamOf(GOOD[type]));
    const [status, body] = refused;
    if (Array.isArray(body))
      return response.writeHead(status, { 'content-type': 'text/event-stream' }).end(streamOf(body));
    return response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  test.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const protocol = PROTOCOLS.find((one) => one.type === type) as (typeof PROTOCOLS)[number];
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${protocol.path}`;
  const model = await connect(type, url, protocol.model, { attempts: 1 });
  const onNotice = (text: string) => void told.push(text);
  return {
    ...{ model, sent, told },
    send: (tools = TOOLS) => model.stream(ask({ tools, onNotice }), () => undefined),
  };
}

const anthropic = (message: string): Refusal => [
  400,
  { type: 'error', error: { type: 'invalid_request_error', message } },
];
const openai = (message: string, param: string | null = null): Refusal => [
  400,
  { error: { message, type: 'invalid_request_error', param, code: 'invalid_function_parameters' } },
];
const google = (message: string): Refusal => [
  400,
  { error: { code: 400, message, status: 'INVALID_ARGUMENT' } },
];

/** How providers refuse the tool at this place of the list. */
const CASES: readonly (readonly [title: string, type: Protocol, refusal: (at: number) => Refusal])[] = [
  [
    'Anthropic, by place',
    'anthropic',
    (at) => anthropic(`tools.${at}.custom.input_schema: JSON schema is invalid. It must match draft 2020-12`),
  ],
  [
    'Anthropic, property keys',
    'anthropic',
    (at) =>
      anthropic(
        `tools.${at}.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'`,
      ),
  ],
  [
    'OpenAI, by name',
    'openai',
    () => openai("Invalid schema for function 'q__arr': array schema missing items.", 'tools[99].parameters'),
  ],
  ['OpenAI, by place', 'openai', (at) => openai('Invalid value', `tools[${at}].parameters`)],
  [
    'Chat Completions, by name',
    'openai-compatible',
    () => openai("Invalid schema for function 'q__arr': In context=(), 'x' is not valid."),
  ],
  [
    'Chat Completions, by place',
    'openai-compatible',
    (at) => openai(`Invalid 'tools[${at}].function.description': string too long.`),
  ],
  [
    'a gateway, with 422',
    'openai-compatible',
    (at) => [422, { detail: [{ loc: ['body', 'tools'], msg: `tools.${at}.function.parameters: bad` }] }],
  ],
  [
    'vLLM, by name',
    'openai-compatible',
    () => [400, { object: 'error', message: 'Failed to compile the schema of tool "q__arr"', code: 400 }],
  ],
  [
    'Google, by place',
    'google',
    (at) =>
      google(
        `* GenerateContentRequest.tools[0].function_declarations[${at}].parameters.properties[x].items: missing field.`,
      ),
  ],
  [
    'Google, in its other spelling',
    'google',
    (at) => google(`Invalid JSON payload at 'tools[0].functionDeclarations[${at}].parametersJsonSchema'`),
  ],
  ...inStreams(),
];

/** The same in a stream, before any content. */
function inStreams(): typeof CASES {
  const said = "Invalid schema for function 'q__arr': array schema missing items.";
  const bad = (at: number) => `tools.${at}.custom.input_schema: JSON schema is invalid`;
  const role = { choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] };
  const start = {
    type: 'message_start',
    message: { id: 'm', role: 'assistant', content: [], usage: { input_tokens: 1 } },
  };
  const created = { type: 'response.created', response: { id: 'r', status: 'in_progress', output: [] } };
  const failed = (error: object) => ({
    type: 'response.failed',
    response: { id: 'r', status: 'failed', error },
  });
  const streams: readonly (readonly [title: string, type: Protocol, events: (at: number) => unknown[]])[] = [
    [
      'Anthropic',
      'anthropic',
      (at) => [start, { type: 'error', error: { type: 'invalid_request_error', message: bad(at) } }],
    ],
    ['Anthropic, without a type', 'anthropic', (at) => [{ type: 'error', error: { message: bad(at) } }]],
    [
      'Anthropic, after a ping',
      'anthropic',
      (at) => [start, { type: 'ping' }, { type: 'error', error: { type: 'api_error', message: bad(at) } }],
    ],
    [
      'OpenAI',
      'openai',
      () => [{ type: 'error', code: 'invalid_function_parameters', message: said, param: null }],
    ],
    ['OpenAI, once begun', 'openai', () => [created, failed({ code: 'invalid_prompt', message: said })]],
    ['OpenAI, as its own fault', 'openai', () => [created, failed({ code: 'server_error', message: said })]],
    [
      'Chat Completions',
      'openai-compatible',
      () => [{ error: { message: said, type: 'BadRequestError', code: 400 } }],
    ],
    ['Chat Completions, in words', 'openai-compatible', () => [{ error: said }]],
    [
      'Chat Completions, after a role',
      'openai-compatible',
      () => [role, { error: { message: said, type: 'invalid_request_error', code: null } }],
    ],
    [
      'Chat Completions, with the status of a gateway',
      'openai-compatible',
      () => [role, { error: { message: said, type: 'upstream_error', code: 502 } }],
    ],
    [
      'Chat Completions, in a choice',
      'openai-compatible',
      () => [{ choices: [{ index: 0, delta: {}, error: { message: said, code: 400 } }] }],
    ],
    [
      'Google',
      'google',
      (at) => [
        {
          error: {
            code: 400,
            message: `tools[0].function_declarations[${at}].parameters: missing field.`,
            status: 'INVALID_ARGUMENT',
          },
        },
      ],
    ],
  ];
  return streams.map(([title, type, events]) => [`${title}, in a stream`, type, (at) => [200, events(at)]]);
}

describe('a tool that is refused by', () => {
  for (const [title, type, refusal] of CASES)
    it(title, async (test) => {
      const { sent, told, send } = await stage(test, type, (names) =>
        names.includes('q__arr') ? refusal(names.indexOf('q__arr')) : null,
      );
      const rest = ['bash', 'q__ok', 'read'];
      assert.equal((await send()).type, 'answer');
      assert.deepEqual(sent, [TOOLS.map(({ name }) => name), rest]);
      assert.equal(told.length, 1);
      assert.match(told[0] ?? '', /^local\/\S+ refuses the tool q__arr and gets on without it: ./);
      assert.equal((await send()).type, 'answer');
      assert.deepEqual(sent.slice(2), [rest]);
      assert.equal(told.length, 1);
      const mended = TOOLS.map((one) => (one.name === 'q__arr' ? { ...one, description: 'mended' } : one));
      assert.equal((await send(mended)).type, 'answer');
      assert.deepEqual(sent[3], [...TOOLS.map(({ name }) => name)]);
    });
});

it('ten tools that are refused one after the other are all set aside', async (test) => {
  const { sent, told, send } = await stage(test, 'openai', (names) => {
    const bad = names.find((name) => name.startsWith('q__bad'));
    return bad === undefined
      ? null
      : openai(`Invalid 'tools[${names.indexOf(bad)}].description': string too long.`);
  });
  const bad = Array.from({ length: 10 }, (_, at) => tool(`q__bad${at}`));
  assert.equal((await send([...bad, ...TOOLS])).type, 'answer');
  assert.deepEqual([sent.at(-1), sent.length, told.length], [TOOLS.map(({ name }) => name), 11, 10]);
});

describe('no tool is set aside', () => {
  for (const [title, type, refusal] of [
    ['for a message that is refused', 'anthropic', anthropic('messages.0.content.0: text must be non-empty')],
    ['for a word that is the name of a tool', 'openai', openai('could not read the input')],
    [
      'for a quoted word that is not about tools',
      'anthropic',
      anthropic("Unknown value 'read' in the input"),
    ],
    ['for a place that no tool has', 'openai-compatible', openai('bad', 'tools[99].function')],
    ['for a model without tools', 'openai-compatible', openai('this model does not support tools')],
    ['for an overloaded server', 'anthropic', [529, { error: { message: 'tools.1: overloaded' } }]],
    [
      'for a fault of a server that names a tool',
      'openai',
      [500, { error: { message: "tool 'read': try later" } }],
    ],
    [
      'for an overloaded server, in a stream',
      'anthropic',
      [200, [{ type: 'error', error: { type: 'overloaded_error', message: 'tools.1: overloaded' } }]],
    ],
    [
      'for a limit, in a stream',
      'openai',
      [200, [{ type: 'error', code: 'rate_limit_exceeded', message: "too many 'read' tools" }]],
    ],
  ] as const)
    it(title, async (test) => {
      const { sent, told, send } = await stage(test, type, () => refusal as Refusal);
      assert.equal((await send()).type, 'failure');
      assert.deepEqual([sent.length, told], [1, []]);
    });

  it('for a server that refuses whatever is sent: people get its words, and the next request has all tools', async (test) => {
    const { sent, told, send } = await stage(test, 'openai', () =>
      openai('Invalid value', 'tools[0].parameters'),
    );
    const outcome = await send();
    assert.ok(outcome.type === 'failure' && /Invalid value/.test(outcome.failure.error));
    assert.ok(sent.length > 1 && sent.length <= 5, `${sent.length} requests`);
    const before = sent.length;
    await send();
    assert.deepEqual([sent[before], told], [TOOLS.map(({ name }) => name), []]);
  });

  it('in the request of a model that takes it', async (test) => {
    const { sent, send } = await stage(test, 'anthropic', () => null);
    await send();
    assert.deepEqual(sent, [TOOLS.map(({ name }) => name)]);
  });
});

describe('if the request without what was refused fails, too', () => {
  const first = openai("Invalid schema for function 'q__arr': array schema missing items.");
  const field = openai("Unsupported parameter: 'store' is not supported here.", 'store');
  const later: readonly (readonly [title: string, refusal: Refusal, kind: string, said: RegExp])[] = [
    [
      'another refusal',
      openai('the first message is too odd'),
      'bad_request',
      /400: the first message is too odd$/,
    ],
    ['an overloaded server', [503, { error: { message: 'try later' } }], 'overloaded', /503: try later/],
    ['a wrong key', [401, { error: { message: 'no such key' } }], 'auth', /401: no such key/],
    [
      'an answer that breaks off',
      [200, [{ type: 'response.created', response: {} }]],
      'network',
      /broke off/,
    ],
    [
      'an error within the answer',
      [
        200,
        [
          { type: 'response.output_text.delta', item_id: 'i', delta: 'a' },
          { type: 'error', message: 'lost' },
        ],
      ],
      'network',
      /: lost/,
    ],
  ];
  for (const [title, second, kind, said] of later)
    for (const [what, refusal, cause] of [
      [
        'a tool',
        first,
        /^400: Invalid schema for function 'q__arr': array schema missing items\.; asked again/,
      ],
      ['a field', field, /^400: Unsupported parameter: 'store' is not supported here\.; asked again/],
    ] as const)
      it(`with ${title}, after ${what}, people read both`, async (test) => {
        let asked = 0;
        const { sent, send, told } = await stage(test, 'openai', () => (asked++ === 0 ? refusal : second));
        const outcome = await send();
        assert.ok(outcome.type === 'failure', JSON.stringify(outcome));
        assert.match(outcome.failure.error, cause);
        assert.match(outcome.failure.error, said);
        assert.deepEqual([outcome.failure.kind, sent.length], [kind, 2]);
        // The tool is set aside once the server has taken the request without it.
        assert.equal(told.length, what === 'a tool' && second[0] === 200 ? 1 : 0);
      });

  it('with the same words, people read them once', async (test) => {
    const { send } = await stage(test, 'openai', () => openai("Invalid schema for function 'q__arr'"));
    const outcome = await send([tool('q__arr'), { ...tool('q__arr'), description: 'another' }]);
    assert.ok(outcome.type === 'failure');
    assert.equal(outcome.failure.error, "400: Invalid schema for function 'q__arr'");
  });
});
