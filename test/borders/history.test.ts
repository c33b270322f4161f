/**
 * Proves that a conversation goes back as its server wants it: thoughts under the name under which they came, or not at all where they were refused; what a
 * refusal names (a field, a role, the order of messages) is left out of one more request, and remembered for that model; descriptions and enums are as the server takes them; every text is well-formed.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import * as fc from 'fast-check';
import { Gate } from '../../src/models/gate/gate.ts';
import type { ModelOutcome, ModelRequest } from '../../src/models/model.ts';
import type { ProviderConfig, Quirks } from '../../src/models/provider/provider-config.ts';
import { memoryQuirks, type QuirkBook, quirksTold } from '../../src/models/provider/quirk-book.ts';
import { openModel } from '../../src/models/providers.ts';
import type { PromptMessage } from '../../src/records/conversation/prompt-message.ts';
import { quirkFile } from '../../src/settings/quirk-file.ts';
import { ask, PROTOCOLS } from '../models/protocols.ts';
import { chunk, GOOD as RAW } from './good-answers.ts';
import { type Event, type Protocol, streamOf } from './raw-answers.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies of four protocols
type Body = any;
type Refusal = { readonly status: number; readonly body: unknown };

interface Stage {
  readonly bodies: Body[];
  /** What people were told while requests were sent. */
  readonly told: string[];
  send(request?: Partial<ModelRequest>, quirks?: QuirkBook): Promise<ModelOutcome>;
}

const DONE = 'data: [DONE]\n\n';
const SAID: readonly Event[] = [chunk({ content: 'fine' }), chunk({}, 'stop'), DONE];

/** A server that answers with events, or refuses. */
async function stage(
  test: TestContext,
  answer: (body: Body, n: number) => readonly Event[] | Refusal,
  {
    type = 'openai-compatible',
    model = 'm',
    config = {},
  }: { type?: Protocol; model?: string; config?: Partial<ProviderConfig> } = {},
): Promise<Stage> {
  const bodies: Body[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const piece of request) text += piece;
    if (request.method === 'GET') return response.writeHead(404).end();
    bodies.push(JSON.parse(text));
    const said = answer(bodies.at(-1), bodies.length - 1);
    if ('status' in said) {
      response.writeHead(said.status, { 'content-type': 'application/json' });
      return response.end(typeof said.body === 'string' ? said.body : JSON.stringify(said.body));
    }
    return response.writeHead(200, { 'content-type': 'text/event-stream' }).end(streamOf(said));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  test.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { path } = PROTOCOLS.find((one) => one.type === type) as (typeof PROTOCOLS)[number];
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  const own = memoryQuirks();
  const told: string[] = [];
  return {
    bodies,
    told,
    async send(request = {}, quirks = own) {
      const opened = await openModel(`local/${model}`, {
        providers: { local: { type, baseURL, apiKeyEnv: 'KEY', ...config } },
        env: { KEY: 'secret-key' },
        quirks,
        gates: new Map([[`local/${model}`, new Gate({ attempts: 1, patience_ms: 0 })]]),
      });
      return opened.stream(ask(request), (delta) => {
        if (delta.type === 'waiting') told.push(delta.reason);
      });
    },
  };
}

const user = (text: string): PromptMessage => ({ role: 'user', text });
const results = (...ids: string[]): PromptMessage => ({
  role: 'results',
  results: ids.map((call_id) => ({ call_id, name: 'fork', status: 'ok', output: 'done' })),
});

/** Sends what came back with a result for its calls, and returns the assistant's message of the second request. */
async function sentBack({ send, bodies }: Stage, type: Protocol = 'openai-compatible'): Promise<Body> {
  const first = await send();
  assert.equal(first.type, 'answer', JSON.stringify(first));
  const ids = first.content.parts.flatMap((part) => (part.type === 'call' ? [part.id] : []));
  const second = await send({
    messages: [user('hello'), { role: 'assistant', ...first.content }, results(...ids)],
  });
  assert.equal(second.type, 'answer', JSON.stringify(second));
  const { messages } = bodies.at(-1);
  return type === 'anthropic' ? messages[1] : messages.find(({ role }: Body) => role === 'assistant');
}

const call = chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'fork', arguments: '{"n":1}' } }] });
const thenCall =
  (...events: Event[]) =>
  (_: Body, n: number) =>
    n === 0 ? [...events, call, chunk({}, 'tool_calls'), DONE] : SAID;

describe('thoughts go back', () => {
  for (const field of ['reasoning', 'reasoning_content'])
    it(`as ${field}, as which they came`, async (test) => {
      const back = await sentBack(
        await stage(test, thenCall(chunk({ [field]: 'let me ' }), chunk({ [field]: 'see' }))),
      );
      const { role, content, tool_calls, ...thoughts } = back;
      assert.deepEqual(thoughts, { [field]: 'let me see' });
    });

  it('as reasoning_details, joined and otherwise unchanged', async (test) => {
    const detail = (text: string, more = {}) =>
      chunk({
        reasoning: text,
        reasoning_details: [{ type: 'reasoning.text', index: 0, format: 'f', text, ...more }],
      });
    const sealed = chunk({ reasoning_details: [{ type: 'reasoning.encrypted', index: 1, data: 'sealed' }] });
    const back = await sentBack(
      await stage(test, thenCall(detail('let me '), detail('see', { signature: 's' }), sealed)),
    );
    assert.deepEqual(back.reasoning_details, [
      { type: 'reasoning.text', index: 0, format: 'f', text: 'let me see', signature: 's' },
      { type: 'reasoning.encrypted', index: 1, data: 'sealed' },
    ]);
    assert.equal(back.reasoning, undefined);
  });

  it('within the text, if they came there between tags; people see them as thoughts', async (test) => {
    for (const pieces of [
      ['<think>let me see</think>\n\nOK'],
      ['\n<th', 'ink>let me', ' see</thi', 'nk>', '\n', '\nOK'],
      [...'<think>let me see</think>\n\nOK'],
    ]) {
      const s = await stage(test, thenCall(...pieces.map((content) => chunk({ content }))));
      const first = await s.send();
      assert.ok(first.type === 'answer');
      assert.deepEqual(
        first.content.parts.slice(0, 2).map((part) => [part.type, 'text' in part && part.text]),
        [
          ['reasoning', 'let me see'],
          ['text', 'OK'],
        ],
      );
      const back = await sentBack(
        await stage(test, thenCall(...pieces.map((content) => chunk({ content })))),
      );
      assert.equal(back.content, '<think>let me see</think>\n\nOK');
    }
  });

  it('not between tags that only look like it, or come later', async (test) => {
    for (const text of ['<thinker> is', 'see <think>x</think>', '<', '<thin', '  ', '<think'])
      for (const pieces of [[text], [...text]]) {
        const s = await stage(test, () => [
          ...pieces.map((content) => chunk({ content })),
          chunk({ content: '.' }),
          chunk({}, 'stop'),
          DONE,
        ]);
        const said = await s.send();
        assert.ok(said.type === 'answer');
        assert.deepEqual(
          said.content.parts.map((part) => 'text' in part && part.text),
          [`${text}.`],
        );
      }
  });

  it('unsigned to a server that sent them so, and not at all where it refuses them', async (test) => {
    const start = { type: 'message_start', message: { id: 'm', usage: {} } };
    const answer = (n: number): Event[] => [
      start,
      ...(n === 0
        ? [
            { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
            { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'see' } },
            { type: 'content_block_stop', index: 0 },
            {
              type: 'content_block_start',
              index: 1,
              content_block: { type: 'tool_use', id: 'a', name: 'fork', input: {} },
            },
            { type: 'content_block_stop', index: 1 },
          ]
        : [{ type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'fine' } }]),
      { type: 'message_delta', delta: { stop_reason: n === 0 ? 'tool_use' : 'end_turn' } },
      { type: 'message_stop' },
    ];
    const takes = await sentBack(await stage(test, (_, n) => answer(n), { type: 'anthropic' }), 'anthropic');
    assert.deepEqual(takes.content[0], { type: 'thinking', thinking: 'see' });
    const strict = await stage(
      test,
      ({ messages }, n) =>
        JSON.stringify(messages).includes('"thinking"')
          ? {
              status: 400,
              body: {
                type: 'error',
                error: {
                  type: 'invalid_request_error',
                  message: 'messages.1.content.0.thinking.signature: Field required. Invalid thinking block',
                },
              },
            }
          : answer(n),
      { type: 'anthropic' },
    );
    const refuses = await sentBack(strict, 'anthropic');
    assert.deepEqual(
      refuses.content.map(({ type }: Body) => type),
      ['tool_use'],
    );
    assert.equal(strict.bodies.length, 3);
  });
});

const refused = (message: string, more: object = {}): Refusal => ({
  status: 400,
  body: { error: { message, type: 'invalid_request_error', ...more } },
});

describe('what a refusal names is left out of one more request, and remembered', () => {
  const THOUGHT: PromptMessage[] = [
    user('a'),
    {
      role: 'assistant',
      model: 'local/m',
      parts: [
        { type: 'reasoning', text: 'hm' },
        { type: 'call', id: 'abc', name: 'fork', input: '{}' },
      ],
    },
    results('abc'),
  ];

  for (const [name, words, has, request] of [
    [
      'a field, by its name',
      refused("Unsupported parameter: 'stream_options'"),
      (b) => b.stream_options !== undefined,
      {},
    ],
    [
      'a field, by `param`',
      refused('Unknown parameter', { param: 'stream_options' }),
      (b) => b.stream_options !== undefined,
      {},
    ],
    [
      'an extra input (Mistral, pydantic)',
      {
        status: 422,
        body: {
          detail: [
            {
              type: 'extra_forbidden',
              loc: ['body', 'stream_options'],
              msg: 'Extra inputs are not permitted',
            },
          ],
        },
      },
      (b) => b.stream_options !== undefined,
      {},
    ],
    [
      'an option of thinking',
      refused("'reasoning_effort' does not support 'high' with this model", { param: 'reasoning_effort' }),
      (b) => b.reasoning_effort !== undefined,
      { thinking: 'high' },
    ],
    [
      'thoughts (Groq)',
      refused(
        "'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning_content' is unsupported)]",
      ),
      (b) => JSON.stringify(b.messages).includes('reasoning_content'),
      { messages: THOUGHT },
    ],
    [
      'thoughts (pydantic)',
      {
        status: 422,
        body: {
          detail: [
            {
              loc: ['body', 'messages', 2, 'assistant', 'reasoning_content'],
              msg: 'Extra inputs are not permitted',
            },
          ],
        },
      },
      (b) => JSON.stringify(b.messages).includes('reasoning_content'),
      { messages: THOUGHT },
    ],
    [
      'the role of instructions',
      refused('System role not supported'),
      (b) => b.messages[0].role === 'system',
      {},
    ],
    [
      'a message of the user after results (Mistral)',
      { status: 400, body: { object: 'error', message: "Unexpected role 'user' after role 'tool'" } },
      (b) => b.messages.some((m: Body, i: number) => m.role === 'user' && b.messages[i - 1]?.role === 'tool'),
      { messages: [...THOUGHT, user('and?')] },
    ],
    [
      'a message of the user after results (templates)',
      {
        status: 400,
        body: { error: 'After the tool role, roles must alternate user/assistant/user/assistant/...' },
      },
      (b) => b.messages.some((m: Body, i: number) => m.role === 'user' && b.messages[i - 1]?.role === 'tool'),
      { messages: [...THOUGHT, user('and?')] },
    ],
  ] as readonly (readonly [string, Refusal, (body: Body) => boolean, Partial<ModelRequest>])[])
    it(name, async (test) => {
      const s = await stage(test, (body) => (has(body) ? words : SAID));
      for (const requests of [2, 3]) {
        const outcome = await s.send(request);
        assert.equal(outcome.type, 'answer', JSON.stringify(outcome));
        assert.equal(s.bodies.length, requests);
      }
      assert.deepEqual(s.bodies.map(has), [true, false, false]);
      if (name.startsWith('the role'))
        assert.match(s.bodies[1].messages[0].content, /^You are a test\.\n\nhello$/);
    });

  it('several things, one after the other', async (test) => {
    const s = await stage(test, (body) =>
      body.stream_options !== undefined
        ? refused('Unknown name "stream_options"')
        : body.reasoning_effort !== undefined
          ? refused('reasoning_effort is not supported')
          : SAID,
    );
    assert.equal((await s.send({ thinking: 'low' })).type, 'answer');
    assert.equal(s.bodies.length, 3);
    assert.deepEqual(s.told, [
      'the server refused: asked without stream_options',
      'the server refused: asked without stream_options, reasoning_effort',
    ]);
  });

  it('not what the request cannot do without, nor a thing that only shares a word with the refusal', async (test) => {
    for (const message of [
      "Unsupported value: 'messages[2].content' is invalid",
      'Invalid model',
      'The type of tools is unsupported',
      'Unexpected error: try later',
      'Invalid request: messages.1.content.0.type is unknown',
    ]) {
      const s = await stage(test, () => refused(message));
      const outcome = await s.send({ thinking: 'high' });
      assert.equal(
        outcome.type === 'failure' && outcome.failure.error.includes(message),
        true,
        JSON.stringify(outcome),
      );
      assert.equal(s.bodies.length, 1, message);
    }
  });

  it('not again if it does not help: people read the first refusal', async (test) => {
    const book = memoryQuirks();
    const s = await stage(test, (body) =>
      refused(
        body.stream_options === undefined
          ? 'stream_options: Field required'
          : 'stream_options.include_usage: invalid value',
      ),
    );
    const outcome = await s.send({}, book);
    assert.match(outcome.type === 'failure' ? outcome.failure.error : '', /include_usage: invalid value/);
    assert.deepEqual(book.of('local/m'), {});
  });

  it('in a file, for the next process; the configuration can say it, too, and doctor tells it', async (test) => {
    const folder = mkdtempSync(join(tmpdir(), 'coppice-quirks-'));
    test.after(() => rmSync(folder, { recursive: true }));
    const has = (body: Body) => body.stream_options !== undefined;
    const s = await stage(test, (body) =>
      has(body) ? refused("Unsupported parameter: 'stream_options'") : SAID,
    );
    await s.send({}, quirkFile(folder));
    await s.send({}, quirkFile(folder));
    assert.deepEqual(s.bodies.map(has), [true, false, false]);
    assert.deepEqual(JSON.parse(readFileSync(join(folder, 'model-quirks.json'), 'utf8')), {
      'local/m': { omit: ['stream_options'] },
    });
    assert.equal(quirksTold(quirkFile(folder).of('local/m')), 'without stream_options');
    for (const config of [
      { quirks: { omit: ['stream_options'] } },
      { models: { m: { quirks: { omit: ['stream_options'] } satisfies Quirks } } },
    ]) {
      const told = await stage(test, (body) => (has(body) ? refused('no') : SAID), { config });
      assert.equal((await told.send()).type, 'answer');
    }
  });
});

describe('descriptions of tools', () => {
  const long = `${'word '.repeat(300)}👩‍👩‍👧 end`;
  const tools = [
    { name: 'long', description: long, input: { type: 'object', properties: {} } },
    { name: 'short', description: 'short', input: { type: 'object', properties: { a: { enum: ['b'] } } } },
  ];
  const described = ({ tools: all = [] }: Body): string[] =>
    (all[0]?.functionDeclarations ?? all).map((one: Body) => one.description ?? one.function.description);
  const cut = (text: string) => `${text.slice(0, 1023)}…`;

  for (const [type, said] of [
    [
      'openai',
      "Invalid 'tools[0].description': string too long. Expected a string with maximum length 1024, but got a string with length 1510 instead.",
    ],
    [
      'openai-compatible',
      "Invalid 'tools[0].function.description': string too long. Expected a string with maximum length 1024, but got a string with length 1510 instead.",
    ],
    ['openai-compatible', 'tools.0.function.description: String should have at most 1024 characters'],
    ['anthropic', 'tools.0.custom.description: must not be longer than 1024 characters'],
    ['google', 'tools[0].function_declarations[0].description exceeds the limit of 1024 characters'],
  ] as const)
    it(`are cut where ${type} refuses them (${said.slice(0, 40)}), and no tool is set aside`, async (test) => {
      const book = memoryQuirks();
      const s = await stage(
        test,
        (body) => (described(body).some((text) => text.length > 1024) ? refused(said) : RAW[type]),
        { type },
      );
      const notices: string[] = [];
      const send = () => s.send({ tools, onNotice: (text) => void notices.push(text) }, book);
      assert.equal((await send()).type, 'answer');
      assert.equal((await send()).type, 'answer');
      assert.deepEqual(s.bodies.map(described), [
        [long, 'short'],
        [cut(long), 'short'],
        [cut(long), 'short'],
      ]);
      assert.deepEqual(notices, []);
      assert.equal(quirksTold(book.of('local/m')), 'with tool descriptions of at most 1024 characters');
    });

  it('are cut between characters, from the first request on where the configuration says so', async (test) => {
    const config = { quirks: { toolDescriptionMax: 1506 } };
    const s = await stage(test, () => SAID, { config });
    await s.send({ tools });
    assert.deepEqual(s.bodies.map(described), [[`${long.slice(0, 1500)}…`, 'short']]);
  });

  it('stay whole where it is about the description of a field, or about something else', async (test) => {
    for (const said of [
      "Invalid schema for function 'long': 'tools[0].function.parameters.properties.a.description' has a maximum length of 100",
      "Invalid schema for function 'long': its description has a maximum length of 9999",
    ]) {
      const s = await stage(test, (body) => (described(body).includes(long) ? refused(said) : SAID));
      const book = memoryQuirks();
      assert.equal((await s.send({ tools }, book)).type, 'answer');
      assert.deepEqual(s.bodies.map(described), [[long, 'short'], ['short']]);
      assert.deepEqual(book.of('local/m'), { refusedTools: ['long'] });
    }
  });
});

describe('values of an enum that are empty or null', () => {
  const input = {
    type: 'object',
    properties: {
      a: { type: ['string', 'null'], enum: ['x', '', null, 'y'] },
      b: { anyOf: [{ enum: [null] }, { type: 'array', items: { type: 'string', enum: [''] } }] },
      enum: { type: 'string', enum: ['z'], default: '' },
    },
    required: ['enum'],
  };
  for (const { type, model } of PROTOCOLS)
    it(`are left out of requests to Google only: ${type}`, async (test) => {
      const s = await stage(test, () => RAW[type], { type, model });
      await s.send({ tools: [{ name: 'x', description: 'x', input }] });
      const [tool] = s.bodies[0].tools;
      const sent =
        tool.functionDeclarations?.[0].parametersJsonSchema ??
        tool.input_schema ??
        tool.function?.parameters ??
        tool.parameters;
      const { a, enum: last } = input.properties;
      const wanted =
        type === 'google'
          ? {
              a: { ...a, enum: ['x', 'y'] },
              b: { anyOf: [{}, { type: 'array', items: { type: 'string' } }] },
              enum: last,
            }
          : input.properties;
      assert.deepEqual(sent.properties, wanted);
    });
});

describe('tools that a server refused', () => {
  it('are remembered for doctor, tried again by the next process, and forgotten once it takes them', async (test) => {
    const folder = mkdtempSync(join(tmpdir(), 'coppice-quirks-'));
    test.after(() => rmSync(folder, { recursive: true }));
    const tool = (name: string) => ({ name, description: name, input: { type: 'object', properties: {} } });
    let refuses = true;
    const s = await stage(test, (body) =>
      refuses && body.tools?.some((one: Body) => one.function.name === 'q__odd')
        ? refused("Invalid schema for function 'q__odd'")
        : SAID,
    );
    const both = { tools: [tool('q__odd'), tool('read')] };
    const told = () => quirksTold(quirkFile(folder).of('local/m'));
    await s.send(both, quirkFile(folder));
    assert.equal(told(), 'without the tools that it refused: q__odd');
    await s.send({ tools: [tool('read')] }, quirkFile(folder));
    await s.send(both, quirkFile(folder));
    assert.equal(told(), 'without the tools that it refused: q__odd');
    assert.deepEqual(
      s.bodies.map((body) => body.tools.length),
      [2, 1, 1, 2, 1],
    );
    refuses = false;
    await s.send(both, quirkFile(folder));
    assert.equal(told(), '');
  });
});

describe('every text of a request is well-formed', () => {
  const half = fc.constantFrom('\ud83d', '\ude00', 'a\ud83d', '\ude00b', '\\ud83d', '😀', 'x');
  const text = fc.array(half, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join(''));
  const lone = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
  const strings = (value: unknown): string[] =>
    typeof value === 'string'
      ? [value, ...(value.startsWith('{') ? strings(JSON.parse(value)) : [])]
      : typeof value === 'object' && value !== null
        ? Object.entries(value).flatMap(([key, one]) => [key, ...strings(one)])
        : [];

  for (const { type, model } of PROTOCOLS)
    it(`of ${type}, wherever half a character is`, async (test) => {
      const s = await stage(test, () => ({ status: 400, body: { error: { message: 'seen' } } }), {
        type,
        model,
      });
      await fc.assert(
        fc.asyncProperty(
          text,
          text,
          text,
          text,
          text,
          text,
          async (system, said, input, output, description, key) => {
            await s.send({
              system,
              messages: [
                user(said),
                {
                  role: 'assistant',
                  model: `local/${model}`,
                  parts: [
                    { type: 'text', text: said },
                    {
                      type: 'call',
                      id: 'a',
                      name: 'fork',
                      input: JSON.stringify({ [`k${key}`]: input, deep: [{ x: input }] }),
                    },
                  ],
                },
                { role: 'results', results: [{ call_id: 'a', name: 'fork', status: 'ok', output }] },
                user(said),
              ],
              tools: [
                {
                  name: 'fork',
                  description,
                  input: {
                    type: 'object',
                    properties: { n: { type: 'string', description, enum: [input] } },
                  },
                },
              ],
            });
            const body = s.bodies.at(-1);
            assert.deepEqual(
              strings(body).filter((one) => lone.test(one)),
              [],
            );
            assert.ok(JSON.stringify(body).includes('fork'));
          },
        ),
        { numRuns: 60 },
      );
    });
});
