// Proves that our own parsers derive the same answers as the provider packages from the same bytes: usual, unusual and broken ones.
import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { Model, ModelDelta } from '../../src/models/model.ts';
import { createProviderModel } from '../../src/models/provider/provider-model.ts';
import { memoryQuirks } from '../../src/models/provider/quirk-book.ts';
import { askOf } from '../../src/models/provider-ask.ts';
import { packageAsk } from './package-ask.ts';
import { PACKAGES } from './packages.ts';
import { ask, KEY, PROTOCOLS } from './protocols.ts';

type Event = Readonly<Record<string, unknown>>;

const PRICE = { input: 3, output: 15, cached: 0.3, cacheWrite: 4 };

/** The body that the server sends next, in two pieces, so that events and characters are cut in the middle. */
let next = '';
/** What it sends in front of the second piece, again and again: so often, or without end. */
let pings = { text: '', times: 0 };
const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => send(response));
});

function send(response: ServerResponse): void {
  const bytes = Buffer.from(next);
  const cut = Math.floor(bytes.length / 2);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  let left = pings.times;
  const goOn = () => {
    if (response.destroyed) return;
    if (left === 0) return response.end(bytes.subarray(cut));
    left -= 1;
    response.write(pings.text);
    setTimeout(goOn, 1);
  };
  response.write(bytes.subarray(0, cut), () => setImmediate(goOn));
}

before(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
after(() => {
  server.closeAllConnections();
  server.close();
});

const raw = (events: readonly (Event | string)[]) =>
  events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join('');

async function both(type: string, standstill_ms = 60_000): Promise<readonly [Model, Model]> {
  const model = PROTOCOLS.find((one) => one.type === type)?.model ?? '';
  const id = `local/${model}`;
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const reach = {
    type: type as 'openai',
    provider: 'local',
    model,
    key: KEY,
    base_url: baseURL,
    headers: {},
  };
  const packaged = PACKAGES[type]?.({ baseURL, fetch }, model) as LanguageModelV4;
  const [theirs, ours] = [
    packageAsk(id, packaged),
    await askOf({ ...reach, idle_ms: 5_000, standstill_ms, quirks: {} }),
  ].map((one) =>
    createProviderModel({
      id,
      askFor: async () => one,
      quirks: memoryQuirks(),
      near: async () => '',
      context_window: null,
      price: PRICE,
      caches_prefixes: false,
      trusts_own_ids: type === 'openai-compatible',
      thinks_throughout: false,
      secrets: [],
      key_env: 'K',
    }),
  ) as [Model, Model];
  return [theirs, ours];
}

async function come(model: Model) {
  const deltas: ModelDelta[] = [];
  const outcome = await model.stream(ask(), (delta) => deltas.push(delta));
  if (outcome.type !== 'failure') return { outcome, deltas };
  // The wording for broken answers differs between the two readers.
  const { kind, retryable, error } = outcome.failure;
  return {
    kind,
    retryable,
    error: /broke|Chat Completions/.test(error) ? 'broken' : error,
    partial: outcome.partial,
  };
}

function compare(type: string, name: string, events: readonly (Event | string)[] | string): void {
  it(name, async () => {
    const [packaged, ours] = await both(type);
    next = typeof events === 'string' ? events : raw(events);
    assert.deepEqual(await come(ours), await come(packaged));
  });
}

describe('chat', () => {
  const chunk = (delta: unknown, finish_reason: unknown = null, more: object = {}): Event => ({
    id: 'c',
    choices: [{ index: 0, delta, finish_reason }],
    ...more,
  });
  const piece = (call: object) => chunk({ tool_calls: [call] });
  const named = (index: number | undefined, id: string | undefined, input: string) =>
    piece({ ...(index === undefined ? {} : { index }), id, function: { name: 'fork', arguments: input } });
  const end = (reason: string) => [
    chunk({}, reason),
    {
      choices: [],
      usage: {
        prompt_tokens: 9,
        completion_tokens: 5,
        prompt_tokens_details: { cached_tokens: 4 },
        completion_tokens_details: { reasoning_tokens: 2 },
      },
    },
    '[DONE]',
  ];
  const odd: Readonly<Record<string, readonly (Event | string)[]>> = {
    'text, thought, text again': [
      chunk({ content: 'a 世界' }),
      chunk({ reasoning_content: 'hm' }),
      chunk({ content: 'b' }),
      ...end('stop'),
    ],
    'a list of texts and thoughts': [
      chunk({
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }, { type: 'other' }] },
          { type: 'text', text: 'so' },
        ],
      }),
      ...end('stop'),
    ],
    'no usage, the end within the last piece': [chunk({ content: 'all' }, 'stop')],
    'a refusal that says stop': [
      chunk({ refusal: 'no' }),
      chunk({ content: null, refusal: false }),
      ...end('stop'),
    ],
    'no word for the end': [chunk({ content: 'x' })],
    'calls without index, one after the other': [
      named(undefined, 'a', '{"n":1}'),
      named(undefined, 'b', '{"n":2}'),
      ...end('tool_calls'),
    ],
    'calls of one index': [named(0, 'a', '{"n":1}'), named(0, 'b', '{"n":2}'), ...end('tool_calls')],
    'one id for two calls': [named(0, 'a', '{"n":1}'), named(1, 'a', '{"n":'), ...end('length')]
      .slice(0, 1)
      .concat(end('stop')),
    'a name that comes late': [
      piece({ index: 0, id: 'a', function: { arguments: '{"n"' } }),
      piece({ index: 0, function: { name: 'fork', arguments: ':1' } }),
      piece({ index: 0, function: { arguments: '}' } }),
      ...end('tool_calls'),
    ],
    'a thought within the call': [
      piece({
        index: 0,
        id: 'a',
        function: { name: 'fork', arguments: '{}' },
        extra_content: { google: { thought_signature: 'sig' } },
      }),
      ...end('tool_calls'),
    ],
    'a thought between calls': [
      chunk({ reasoning_content: 'one' }),
      named(0, 'a', '{}'),
      chunk({ reasoning_content: 'two' }),
      ...end('stop'),
    ],
    'an error in the middle': [
      chunk({ content: 'x' }),
      { error: { message: 'the model is overloaded', code: 502 } },
    ],
  };
  for (const [name, events] of Object.entries(odd)) compare('openai-compatible', name, events);
  compare(
    'openai-compatible',
    'lines that end as on Windows, comments, other fields, several lines of data',
    `: hello\r\n\r\nevent: x\r\nid: 1\r\ndata:{"choices":\r\ndata: []}\r\n\r\n${raw([chunk({ content: 'x' }), ...end('stop')]).replaceAll('\n', '\r\n')}`,
  );
  compare(
    'openai-compatible',
    'an event that nothing ends is none',
    raw([chunk({ content: 'x' }), ...end('stop')]).slice(0, -2),
  );
});

describe('responses', () => {
  const item = (what: 'added' | 'done', output_index: number, one: object): Event => ({
    type: `response.output_item.${what}`,
    output_index,
    item: one,
  });
  const message = (what: 'added' | 'done', more: object = {}) =>
    item(what, 0, { type: 'message', id: 'msg_1', role: 'assistant', content: [], ...more });
  const text = (delta: unknown, more: object = { output_index: 0 }): Event => ({
    type: 'response.output_text.delta',
    item_id: 'msg_1',
    content_index: 0,
    delta,
    ...more,
  });
  const created = { type: 'response.created', response: { id: 'r', created_at: 1, model: 'm' } };
  const completed = {
    type: 'response.completed',
    response: {
      usage: {
        input_tokens: 9,
        output_tokens: 5,
        input_tokens_details: { cached_tokens: 4, cache_write_tokens: 2 },
        output_tokens_details: { reasoning_tokens: 2 },
      },
    },
  };
  const calls = (name: string, input: string) =>
    (['added', 'done'] as const).map((what) =>
      item(what, 1, {
        type: 'function_call',
        id: 'fc_1',
        call_id: 'call_1',
        name,
        arguments: what === 'done' ? input : '',
        status: 'completed',
      }),
    );
  const thinks = (what: string, summary_index: number, more: object = {}): Event => ({
    type: `response.reasoning_summary_${what}`,
    item_id: 'rs_1',
    output_index: 0,
    summary_index,
    ...more,
  });
  const odd: Readonly<Record<string, readonly (Event | string)[]>> = {
    'text in two phases': [
      created,
      message('added', { phase: 'commentary' }),
      text('a 世界'),
      text('b'),
      message('done', { phase: 'final_answer' }),
      completed,
    ],
    'text of which no place is said': [created, message('added'), text('a', {}), message('done'), completed],
    'a call, and a text before it': [
      created,
      message('added'),
      text('a'),
      message('done'),
      ...calls('fork', '{"n":1}'),
      completed,
    ],
    'a call of several that names an unknown tool': [
      created,
      ...calls('parallel', '{"tool_uses":[{"recipient_name":"functions.x","parameters":{}}]}'),
      completed,
    ],
    'a refusal': [
      created,
      message('added'),
      { type: 'response.refusal.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: 'no' },
      message('done'),
      completed,
    ],
    'a summary in two parts, sealed at the end': [
      created,
      item('added', 0, { type: 'reasoning', id: 'rs_1', encrypted_content: null, summary: [] }),
      thinks('part.added', 0),
      thinks('text.delta', 0, { delta: 'one' }),
      thinks('part.done', 0),
      thinks('part.added', 1),
      thinks('text.delta', 1, { delta: 'two' }),
      thinks('part.done', 1),
      item('done', 0, { type: 'reasoning', id: 'rs_1', encrypted_content: 'sealed', summary: [] }),
      ...calls('fork', '{}'),
      completed,
    ],
    blocked: [
      created,
      message('added'),
      text('a'),
      {
        type: 'response.incomplete',
        response: { incomplete_details: { reason: 'content_filter' }, usage: null },
      },
    ],
    'failed at once': [
      created,
      {
        type: 'response.failed',
        sequence_number: 1,
        response: { error: { code: 'server_error', message: 'oh' } },
      },
    ],
    'failed in the middle': [
      created,
      message('added'),
      text('a'),
      {
        type: 'response.failed',
        sequence_number: 1,
        response: { error: { code: 'server_error', message: 'internal server error' } },
      },
    ],
    'a rate limit at once': [
      created,
      { type: 'error', sequence_number: 1, code: 'rate_limit_exceeded', message: 'slow down', param: null },
    ],
    'no credit at once': [
      created,
      {
        type: 'error',
        sequence_number: 1,
        error: { type: 'insufficient_quota', code: 'insufficient_quota', message: 'pay' },
      },
    ],
    'too long, told at once': [
      created,
      {
        type: 'error',
        sequence_number: 1,
        error: { type: 'invalid_request_error', code: 'context_length_exceeded', message: 'context length' },
      },
    ],
    'no end': [created, message('added'), text('a')],
    'events that are new': [
      created,
      { type: 'response.novelty', x: 1 },
      message('added'),
      text('a'),
      message('done'),
      completed,
    ],
  };
  for (const [name, events] of Object.entries(odd)) compare('openai', name, events);

  it('a server of another protocol is told of by its name', async () => {
    next = raw([{ id: 'c', choices: [{ index: 0, delta: { content: 'x' } }] }]);
    const [, ours] = await both('openai');
    assert.match(JSON.stringify(await ours.stream(ask(), () => undefined)), /its type is openai-compatible/);
  });
});

describe('anthropic', () => {
  const usage = {
    input_tokens: 9,
    cache_read_input_tokens: 4,
    cache_creation_input_tokens: 3,
    output_tokens: 1,
  };
  const start = {
    type: 'message_start',
    message: {
      id: 'm1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [],
      stop_reason: null,
      usage,
    },
  };
  const end = (stop_reason: string | null, more: object = {}) => [
    {
      type: 'message_delta',
      delta: { stop_reason, stop_sequence: null },
      usage: { output_tokens: 20, ...more },
    },
    { type: 'message_stop' },
  ];
  const block = (index: number, content_block: object, ...deltas: object[]): Event[] => [
    { type: 'content_block_start', index, content_block },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
  const text = (words: unknown) => block(0, { type: 'text', text: '' }, { type: 'text_delta', text: words });
  const call = (input: object, ...pieces: string[]) =>
    block(
      1,
      { type: 'tool_use', id: 'toolu_1', name: 'fork', input },
      ...pieces.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    );
  const error = (type: string, message: string) => ({ type: 'error', error: { type, message } });
  const odd: Readonly<Record<string, readonly (Event | string)[]>> = {
    'text and a call': [
      start,
      { type: 'ping' },
      ...text('a 世界'),
      ...call({}, '{"n"', ':1}'),
      ...end('tool_use'),
    ],
    'a call without arguments, and one that brings them at once': [
      start,
      ...call({}),
      ...call({ n: 1 }),
      ...end('tool_use'),
    ],
    'thinking, signed and hidden': [
      start,
      ...block(
        0,
        { type: 'thinking', thinking: '', signature: '' },
        { type: 'thinking_delta', thinking: 'hm' },
        { type: 'signature_delta', signature: 'signed' },
      ),
      ...block(1, { type: 'redacted_thinking', data: 'hidden' }),
      ...block(2, { type: 'text', text: '' }, { type: 'text_delta', text: 'so' }),
      ...end('end_turn', { output_tokens_details: { thinking_tokens: 7 } }),
    ],
    'counts that come late': [
      start,
      ...text('a'),
      ...end('max_tokens', { input_tokens: 11, cache_read_input_tokens: null }),
    ],
    'a pause': [start, ...text('a'), ...end('pause_turn')],
    declined: [start, ...text('a'), ...end('refusal')],
    'no end': [start, ...text('a')],
    'the same message begun twice': [start, start, ...text('a'), ...end('end_turn')],
    'overloaded at once': [error('overloaded_error', 'Overloaded')],
    'a rate limit at once': [error('rate_limit_error', 'slow down')],
    'refused at once': [error('invalid_request_error', 'messages.0: no')],
    'overloaded in the middle': [start, ...text('a').slice(0, 2), error('overloaded_error', 'Overloaded')],
  };
  for (const [name, events] of Object.entries(odd)) compare('anthropic', name, events);
});

describe('signs of life', () => {
  // Comments, what Messages names a ping, and events that say nothing.
  const text = ': waiting\n\nevent: ping\ndata: {"type":"ping"}\n\n';
  for (const { type } of PROTOCOLS)
    it(`are no answer: after the time in which something must come, the request has failed and may be tried again (${type})`, async () => {
      const [, ours] = await both(type, 50);
      [next, pings] = ['', { text, times: Number.POSITIVE_INFINITY }];
      const outcome = await ours.stream(ask(), () => undefined);
      assert.ok(outcome.type === 'failure');
      const { kind, retryable, error } = outcome.failure;
      assert.deepEqual([kind, retryable], ['network', true]);
      assert.match(error, /^only signs of life from 127\.0\.0\.1:\d+ for 0 s, and nothing of the answer$/);
    });

  it('cost no answer that comes behind them, and what had come before them is kept', async () => {
    const chunk = (content: string, reason: string | null) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: reason }] })}\n\n`;
    const empty = `${text}data: {"choices":[{"index":0,"delta":{}}]}\n\n`;
    // Of the same length: the body is cut between them.
    const body = chunk('one ', null).padEnd(120, '\n') + chunk('two', 'stop').padEnd(120, '\n');
    [next, pings] = [body, { text: empty, times: 50 }];
    const [, whole] = await both('openai-compatible');
    const answer = await whole.stream(ask(), () => undefined);
    assert.deepEqual(answer.type === 'answer' && answer.content.parts, [{ type: 'text', text: 'one two' }]);
    pings = { text: empty, times: Number.POSITIVE_INFINITY };
    const [, broken] = await both('openai-compatible', 50);
    const outcome = await broken.stream(ask(), () => undefined);
    assert.equal(outcome.type === 'failure' && outcome.partial, 'one ');
  });
});
