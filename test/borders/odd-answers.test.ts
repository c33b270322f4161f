/**
 * Proves that answers are read for what they mean, as servers, gateways and builds of them really send them: side fields that are missing, null or of another
 * type, words and spellings of other vendors, pieces where others send none, whole answers instead of streams. What cannot be read is an error that says so.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { chunk } from './good-answers.ts';
import { type Event, type Protocol, RawServer, type Read, streamOf } from './raw-answers.ts';

const server = new RawServer();
before(() => server.start());
after(() => server.stop());

type Wanted = Partial<Omit<Read, 'error'>> & { readonly error?: RegExp };

/** The events must be read as `wanted` says. */
function reads(protocol: Protocol, name: string, events: readonly Event[], wanted: Wanted): void {
  it(name, async () => check(await server.read(protocol, streamOf(events)), wanted));
}

function check({ error, ...read }: Read, { error: wanted_error, ...wanted }: Wanted): void {
  if (wanted_error === undefined) assert.equal(error, undefined);
  else assert.match(error ?? JSON.stringify(read), wanted_error);
  for (const [key, value] of Object.entries(wanted))
    assert.deepEqual(read[key as keyof typeof read], value, JSON.stringify(read));
}

const CALL = [['fork', { n: 1 }]] as const;
const NAMELESS = [['', { n: 1 }]] as const;

describe('openai-compatible', () => {
  const DONE = 'data: [DONE]\n\n';
  const call = (over: object = {}) =>
    chunk({
      tool_calls: [
        { index: 0, id: 'a', type: 'function', function: { name: 'fork', arguments: '{"n":1}' }, ...over },
      ],
    });
  const ended = (...events: Event[]): Event[] => [...events, chunk({}, 'stop'), DONE];
  const told = (name: string, events: readonly Event[], wanted: Wanted) =>
    reads('openai-compatible', name, events, { requests: 1, ...wanted });

  for (const word of ['end_turn', 'eos', 'stop_sequence', 'eos_token', 'completed', 'STOP', 'tired'])
    told(`the word for the end ${word}`, [chunk({ content: 'x' }, word), DONE], {
      text: 'x',
      finish: 'stop',
    });
  for (const word of ['max_tokens', 'MAX_TOKENS', 'model_length', 'length'])
    told(`the word for a cut ${word}`, [chunk({ content: 'x' }, word), DONE], {
      text: 'x',
      finish: 'length',
    });
  for (const word of ['tool_use', 'function_call', 'stop', 'eos', ''])
    told(`a call that ends with ${JSON.stringify(word)}`, [call(), chunk({}, word), DONE], {
      calls: CALL,
      finish: 'calls',
    });
  told('no word for the end, but [DONE]', [chunk({ content: 'x' }), DONE], { text: 'x', finish: 'stop' });
  told('no word and no [DONE]: broken off', [chunk({ content: 'x' })], { error: /broke off/, requests: 2 });
  told(
    '"null" and "" as words before the end',
    [chunk({ content: 'x' }, 'null'), chunk({ content: 'y' }, ''), chunk({}, 'stop'), DONE],
    { text: 'xy' },
  );
  told('the word "error" without a message', [chunk({ content: 'x' }, 'error'), DONE], {
    error: /the server ended it with "error"/,
    requests: 2,
  });

  told(
    'usage in a piece without choices',
    ended(chunk({ content: 'x' }), { id: 'c', usage: { prompt_tokens: 1 } }),
    { text: 'x' },
  );
  told('choices: null', ended(chunk({ content: 'x' }), { id: 'c', choices: null, usage: {} }), { text: 'x' });
  told(
    'usage as text, a list, nothing',
    ended(
      chunk({ content: 'x' }),
      { choices: [], usage: 'many' },
      { choices: [], usage: [] },
      { choices: [], usage: null },
    ),
    { text: 'x' },
  );
  told(
    'counts as text',
    ended(chunk({ content: 'x' }), {
      choices: [],
      usage: { prompt_tokens: '12', prompt_tokens_details: 'x' },
    }),
    { text: 'x' },
  );
  told(
    'choices that are none',
    ended(chunk({ content: 'x' }), { choices: [null] }, { choices: ['x'] }, { choices: 'x' }),
    { text: 'x' },
  );
  told('one choice that is no list', ended({ choices: { delta: { content: 'x' } } }), { text: 'x' });
  told('a ping', ended({ type: 'ping' }, chunk({ content: 'x' })), { text: 'x' });
  told(
    'an empty piece before the first',
    ended({ choices: [], prompt_filter_results: [{}] }, chunk({ content: 'x' })),
    { text: 'x' },
  );
  told(
    'blank data, comments, an event that is no object',
    ended('data:\n\n', ': hello\n\n', 'data: []\n\n', 'data: null\n\n', chunk({ content: 'x' })),
    { text: 'x' },
  );
  told('a blank after [DONE]', [chunk({ content: 'x' }, 'stop'), 'data: [DONE] \n\n'], { text: 'x' });
  told(
    'no blank line after the last event',
    [chunk({ content: 'x' }), `data: ${JSON.stringify(chunk({}, 'stop'))}\n`],
    { text: 'x' },
  );
  told('a byte order mark', ['\ufeff', ...ended(chunk({ content: 'x' }))], { text: 'x' });
  told('something unreadable after the end', [chunk({ content: 'x' }, 'stop'), 'data: {oops\n\n', DONE], {
    text: 'x',
  });
  told(
    'something unreadable before the end is asked for again',
    [chunk({ content: 'x' }), 'data: {oops\n\n', DONE],
    { error: /an event is no JSON: \{oops/, requests: 2 },
  );

  told('a text as a number', ended(chunk({ content: 7 })), { text: '7' });
  told('a text as parts', ended(chunk({ content: [{ type: 'text', text: 'x' }, 'y', { text: 'z' }] })), {
    text: 'xyz',
  });
  told('a text as one part', ended(chunk({ content: { type: 'text', text: 'x' } })), { text: 'x' });
  told('a text as something else', ended(chunk({ content: [{ type: 'text', text: { value: 'x' } }] })), {
    error: /cannot be read: text is not text/,
    retryable: false,
  });
  told(
    'the whole message instead of a piece',
    [{ choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }] }, DONE],
    { text: 'x' },
  );
  told(
    'the whole message after its pieces',
    [
      chunk({ content: 'x' }),
      { choices: [{ index: 0, delta: {}, message: { content: 'x' }, finish_reason: 'stop' }] },
      DONE,
    ],
    { text: 'x' },
  );
  told(
    'role, refusal and calls of other types',
    ended(chunk({ role: null, content: 'x', refusal: false, tool_calls: {} })),
    { text: 'x' },
  );
  told(
    'thoughts as a list',
    ended(
      chunk({
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
          { type: 'text', text: 'x' },
        ],
      }),
    ),
    { text: 'x', reasoning: 'hm' },
  );
  for (const [odd, reasoning] of [
    [{ text: 'hm' }, 'hm'],
    [[{ type: 'summary_text', text: 'h' }, 'm'], 'hm'],
    [{ tokens: 12 }, ''],
    [[[1]], ''],
  ] as const)
    for (const field of ['reasoning', 'reasoning_content'])
      told(
        `a thought in ${field} as ${JSON.stringify(odd)}`,
        ended(chunk({ [field]: odd }), chunk({ content: 'x' })),
        { text: 'x', reasoning },
      );
  told(
    'a thought as text',
    ended(
      chunk({
        content: [
          { type: 'thinking', thinking: 'hm' },
          { type: 'text', text: 'x' },
        ],
      }),
    ),
    { text: 'x', reasoning: 'hm' },
  );
  told('thoughts by another name', ended(chunk({ reasoning: 'hm' }), chunk({ content: 'x' })), {
    text: 'x',
    reasoning: 'hm',
  });

  told('arguments as an object', ended(call({ function: { name: 'fork', arguments: { n: 1 } } })), {
    calls: CALL,
  });
  told('an index as text', ended(call({ index: '0' })), { calls: CALL });
  told('an id as a number', ended(call({ id: 12 })), { calls: CALL });
  told('no id', ended(call({ id: null })), { calls: CALL });
  told('no index', ended(call({ index: undefined })), { calls: CALL });
  told('no type', ended(call({ type: null })), { calls: CALL });
  told(
    'one call that is no list',
    ended(chunk({ tool_calls: { index: 0, id: 'a', function: { name: 'fork', arguments: '{"n":1}' } } })),
    { calls: CALL },
  );
  told(
    'calls that are none',
    ended(chunk({ tool_calls: 'x' }), chunk({ tool_calls: [null] }), chunk({ content: 'x' })),
    { text: 'x', calls: [] },
  );
  told('a last piece without function', ended(call(), chunk({ tool_calls: [{ index: 0 }] })), {
    calls: CALL,
  });
  told(
    'the name in every piece',
    ended(
      call({ function: { name: 'fork', arguments: '{"n"' } }),
      call({ function: { name: 'fork', arguments: ':1}' } }),
    ),
    { calls: CALL },
  );
  told(
    'an empty name and id in later pieces',
    ended(
      call({ function: { name: 'fork', arguments: '{"n"' } }),
      call({ id: '', function: { name: '', arguments: ':1}' } }),
    ),
    { calls: CALL },
  );
  told(
    'the form of calls before there were several',
    ended(
      chunk({ function_call: { name: 'fork', arguments: '{"n"' } }),
      chunk({ function_call: { arguments: ':1}' } }),
    ),
    { calls: CALL },
  );
  told(
    'a name that never comes',
    ended(chunk({ tool_calls: [{ index: 0, id: 'a', function: { arguments: '{"n":1}' } }] })),
    { calls: NAMELESS },
  );
  told(
    'a name that is empty, and a call without an id',
    ended(chunk({ tool_calls: [{ index: 0, function: { name: '', arguments: '{"n":1}' } }] })),
    { calls: NAMELESS },
  );

  told(
    'an error in a choice',
    [
      chunk({ content: 'x' }),
      {
        choices: [
          {
            index: 0,
            delta: { content: '' },
            finish_reason: 'error',
            error: { code: 502, message: 'Upstream worker limit' },
          },
        ],
      },
      DONE,
    ],
    { error: /Upstream worker limit/, retryable: true, requests: 2 },
  );
  told('an error as text', [{ error: 'model runner has stopped' }], {
    error: /500: model runner has stopped/,
    requests: 2,
  });
  told('an error by the name of its event', ['event: error\ndata: {"detail":"out of memory"}\n\n'], {
    error: /out of memory/,
    requests: 2,
  });
  told('an error with its status', [{ error: { code: 400, message: 'max_tokens is too large' } }], {
    error: /^400: max_tokens is too large/,
    retryable: false,
    requests: 1,
  });
  told('an error with its status as text', [{ error: { code: '429', message: 'slow down' } }], {
    error: /^429: slow down/,
    retryable: true,
    requests: 2,
  });
  told('error: null', ended({ ...chunk({ content: 'x' }), error: null }), { text: 'x' });

  const whole = (name: string, body: unknown, wanted: Wanted) =>
    it(name, async () =>
      check(
        await server.read('openai-compatible', JSON.stringify(body), { type: 'application/json' }),
        wanted,
      ),
    );
  whole(
    'a whole answer instead of a stream',
    {
      choices: [
        {
          message: {
            content: 'x',
            tool_calls: [{ id: 'a', function: { name: 'fork', arguments: '{"n":1}' } }],
          },
          finish_reason: 'stop',
        },
      ],
    },
    { text: 'x', calls: CALL, finish: 'calls' },
  );
  whole(
    'an error code in a 200 body',
    { code: 400, message: 'model not loaded' },
    { error: /^400: model not loaded/, retryable: false },
  );
  whole(
    'an error of MiniMax in a 200 body',
    { base_resp: { status_code: 1008, status_msg: 'insufficient balance' } },
    { error: /insufficient balance/ },
  );
  whole('errors in a list', [{ error: { code: 403, message: 'no' } }], {
    error: /answered with application\/json instead/,
  });
});

describe('anthropic', () => {
  const start = (over: object = {}) => ({
    type: 'message_start',
    message: {
      id: 'm1',
      type: 'message',
      role: 'assistant',
      content: [],
      usage: { input_tokens: 1 },
      ...over,
    },
  });
  const begin = (content_block: unknown, index: unknown = 0) => ({
    type: 'content_block_start',
    index,
    content_block,
  });
  const delta = (one: unknown, index: unknown = 0) => ({ type: 'content_block_delta', index, delta: one });
  const stop = (index: unknown = 0) => ({ type: 'content_block_stop', index });
  const text = (words: string) => [
    begin({ type: 'text', text: '' }),
    delta({ type: 'text_delta', text: words }),
    stop(),
  ];
  const end = (reason: unknown = 'end_turn', usage: unknown = { output_tokens: 1 }) => [
    { type: 'message_delta', delta: { stop_reason: reason }, usage },
    { type: 'message_stop' },
  ];
  const told = (name: string, events: readonly Event[], wanted: Wanted) =>
    reads('anthropic', name, events, { requests: 1, ...wanted });

  for (const [name, usage] of [
    ['missing', undefined],
    ['null', null],
    ['text', 'many'],
    ['with counts as text', { output_tokens: '4', input_tokens: null }],
  ] as const) {
    told(`usage at the end ${name}`, [start(), ...text('x'), ...end('end_turn', usage)], { text: 'x' });
    told(`usage at the start ${name}`, [start({ usage }), ...text('x'), ...end()], { text: 'x' });
  }
  told(
    'usage within delta',
    [
      start(),
      ...text('x'),
      { type: 'message_delta', delta: { stop_reason: 'end_turn', usage: { output_tokens: 4 } } },
      { type: 'message_stop' },
    ],
    { text: 'x' },
  );
  told('no message in message_start', [{ type: 'message_start' }, ...text('x'), ...end()], { text: 'x' });
  told('no message_start', [...text('x'), ...end()], { text: 'x' });
  told(
    'the first characters in the start of the block',
    [
      start(),
      begin({ type: 'text', text: 'Do not' }),
      delta({ type: 'text_delta', text: ' delete' }),
      stop(),
      ...end(),
    ],
    { text: 'Do not delete' },
  );
  told(
    'all text in the start of the block',
    [start(), begin({ type: 'text', text: 'all' }), stop(), ...end()],
    { text: 'all' },
  );
  told('a delta without a start', [start(), delta({ type: 'text_delta', text: 'x' }), stop(), ...end()], {
    text: 'x',
  });
  told(
    'a thought without a start',
    [start(), delta({ type: 'thinking_delta', thinking: 'hm' }), ...text('x'), ...end()],
    { text: 'x', reasoning: 'hm' },
  );
  told(
    'a delta without type',
    [start(), begin({ type: 'text', text: '' }), delta({ text: 'x' }), stop(), ...end()],
    { text: 'x' },
  );
  told(
    'no index',
    [
      start(),
      begin({ type: 'text', text: '' }, null),
      delta({ type: 'text_delta', text: 'x' }, null),
      stop(null),
      begin({ type: 'tool_use', id: 'a', name: 'fork', input: {} }, null),
      delta({ partial_json: '{"n":1}' }, null),
      stop(null),
      ...end('tool_use'),
    ],
    { text: 'x', calls: CALL },
  );
  told(
    'an index as text in some events',
    [
      start(),
      begin({ type: 'text', text: '' }, '0'),
      delta({ type: 'text_delta', text: 'x' }),
      stop('0'),
      ...end(),
    ],
    { text: 'x' },
  );
  told(
    'a block without type',
    [start(), begin({ id: 'a', name: 'fork', input: { n: 1 } }), stop(), ...end('tool_use')],
    { calls: CALL },
  );
  told('a block that is none', [start(), begin('x'), ...text('x'), ...end()], { text: 'x' });
  told(
    'no content_block_stop',
    [
      start(),
      begin({ type: 'tool_use', id: 'a', name: 'fork', input: {} }),
      delta({ type: 'input_json_delta', partial_json: '{"n":1}' }),
      ...end('tool_use'),
    ],
    { calls: CALL, finish: 'calls' },
  );
  told('no message_stop', [start(), ...text('x'), end()[0] as Event], { text: 'x', finish: 'stop' });
  told('no message_delta', [start(), ...text('x'), { type: 'message_stop' }], { text: 'x', finish: 'stop' });
  told('neither of them: broken off', [start(), ...text('x')], { error: /broke off/, requests: 2 });
  told('neither of them, but [DONE]', [start(), ...text('x'), 'data: [DONE]\n\n'], { text: 'x' });
  told('[DONE] after the end', [start(), ...text('x'), ...end(), 'data: [DONE]\n\n'], { text: 'x' });
  for (const reason of [null, '', 'stop', 'eos', 'tired', 7])
    told(`the word for the end ${JSON.stringify(reason)}`, [start(), ...text('x'), ...end(reason)], {
      text: 'x',
      finish: 'stop',
    });
  for (const reason of ['length', 'max_tokens', 'model_context_window_exceeded'])
    told(`the word for a cut ${reason}`, [start(), ...text('x'), ...end(reason)], {
      text: 'x',
      finish: 'length',
    });
  told(
    'tool_calls for the end of a call',
    [
      start(),
      begin({ type: 'tool_use', id: 'a', name: 'fork', input: { n: 1 } }),
      stop(),
      ...end('tool_calls'),
    ],
    { calls: CALL },
  );
  told(
    'arguments as an object, given twice',
    [
      start(),
      begin({ type: 'tool_use', id: 'a', name: 'fork', input: { n: 1 } }),
      delta({ type: 'input_json_delta', partial_json: '{"n":1}' }),
      stop(),
      ...end('tool_use'),
    ],
    { calls: CALL },
  );
  told(
    'pieces of arguments as an object',
    [
      start(),
      begin({ type: 'tool_use', id: 'a', name: 'fork' }),
      delta({ type: 'input_json_delta', partial_json: { n: 1 } }),
      stop(),
      ...end('tool_use'),
    ],
    { calls: CALL },
  );
  told(
    'a call without id, or with a number',
    [start(), begin({ type: 'tool_use', name: 'fork', input: { n: 1 } }), stop(), ...end('tool_use')],
    { calls: CALL },
  );
  told(
    'a call without name',
    [start(), begin({ type: 'tool_use', id: 'a', input: { n: 1 } }), stop(), ...end('tool_use')],
    { calls: NAMELESS },
  );
  told(
    'arguments without a start',
    [start(), delta({ type: 'input_json_delta', partial_json: '{}' }), ...end('tool_use')],
    { error: /cannot be read: a call has no name/, retryable: false },
  );
  told(
    'blocks and pieces of other kinds',
    [
      start(),
      begin({ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }, 0),
      delta({ type: 'input_json_delta', partial_json: '{"q":1}' }, 0),
      stop(0),
      begin({ type: 'web_search_tool_result', content: [] }, 1),
      stop(1),
      begin({ type: 'text', text: '' }, 2),
      delta({ type: 'citations_delta', citation: {} }, 2),
      delta({ type: 'text_delta', text: 'x' }, 2),
      stop(2),
      ...end(),
    ],
    { text: 'x', calls: [] },
  );
  told('a second message within the first', [start(), start({ id: 'm2' }), ...text('x'), ...end()], {
    error: /another message begins/,
    retryable: false,
  });
  told('an error as text', [{ type: 'error', error: 'overloaded' }], {
    error: /500: overloaded/,
    requests: 2,
  });
  told('an error without type', [{ error: { type: 'invalid_request_error', message: 'no' } }], {
    error: /^400: no/,
  });
  told('the events of Chat Completions', [chunk({ content: 'x' }, 'stop')], {
    error: /its type is openai-compatible/,
    retryable: false,
  });
  it('a whole answer instead of a stream', async () => {
    const body = {
      id: 'm',
      type: 'message',
      content: [
        { type: 'text', text: 'x' },
        { type: 'tool_use', id: 'a', name: 'fork', input: { n: 1 } },
      ],
      stop_reason: 'tool_use',
      usage: {},
    };
    check(await server.read('anthropic', JSON.stringify(body), { type: 'application/json' }), {
      text: 'x',
      calls: CALL,
      finish: 'calls',
    });
  });
});

describe('openai', () => {
  const item = (what: 'added' | 'done', one: object, more: object = { output_index: 0 }) => ({
    type: `response.output_item.${what}`,
    ...more,
    item: one,
  });
  const completed = (over: object = {}) => ({ type: 'response.completed', response: { ...over } });
  const fork = (over: object = {}) => ({
    type: 'function_call',
    id: 'fc',
    call_id: 'c1',
    name: 'fork',
    arguments: '{"n":1}',
    ...over,
  });
  const message = { type: 'message', id: 'msg', role: 'assistant', content: [] };
  const words = { ...message, content: [{ type: 'output_text', text: 'x' }] };
  const told = (name: string, events: readonly Event[], wanted: Wanted) =>
    reads('openai', name, events, { requests: 1, ...wanted });

  told(
    'no ids and no indexes',
    [
      item('added', { type: 'message' }, {}),
      { type: 'response.output_text.delta', delta: 'x' },
      item('done', { type: 'message' }, {}),
      item('added', fork({ id: undefined }), {}),
      item('done', fork({ id: undefined }), {}),
      completed(),
    ],
    { text: 'x', calls: CALL },
  );
  told(
    'two calls without ids and indexes',
    [
      item('done', fork({ id: null, call_id: null }), {}),
      item('done', fork({ id: null, call_id: null, arguments: '{"n":2}' }), {}),
      completed(),
    ],
    {
      calls: [
        ['fork', { n: 1 }],
        ['fork', { n: 2 }],
      ],
    },
  );
  told('only deltas and the end', [{ type: 'response.output_text.delta', delta: 'x' }, completed()], {
    text: 'x',
  });
  told('only the whole text', [{ type: 'response.output_text.done', text: 'x' }, completed()], { text: 'x' });
  told('only the whole item', [item('done', words), completed()], { text: 'x' });
  told('only the whole response', [completed({ output: [words, fork()] })], { text: 'x', calls: CALL });
  told(
    'everything, three times',
    [
      item('added', message),
      { type: 'response.output_text.delta', output_index: 0, delta: 'x' },
      { type: 'response.output_text.done', output_index: 0, text: 'x' },
      item('done', words),
      item('done', fork(), { output_index: 1 }),
      completed({ output: [words, fork()] }),
    ],
    { text: 'x', calls: CALL },
  );
  told('a call that only the response has', [item('done', words), completed({ output: [words, fork()] })], {
    text: 'x',
    calls: CALL,
  });
  told(
    'a call that comes again with other ids and blanks',
    [
      item('done', fork()),
      completed({ output: [fork({ id: 'other', call_id: 'other', arguments: '{ "n": 1 }' })] }),
    ],
    { calls: CALL },
  );
  told(
    'arguments in pieces only',
    [
      item('added', fork({ arguments: '' })),
      { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{"n":' },
      { type: 'response.function_call_arguments.delta', output_index: 0, delta: '1}' },
      item('done', fork({ arguments: null })),
      completed(),
    ],
    { calls: CALL },
  );
  told('arguments as an object', [item('done', fork({ arguments: { n: 1 } })), completed()], { calls: CALL });
  told('no call_id', [item('done', fork({ call_id: null })), completed()], { calls: CALL });
  told('no type of an item', [item('done', fork({ type: undefined })), completed()], { calls: CALL });
  told('no name', [item('done', fork({ name: null })), completed()], { calls: NAMELESS });
  told(
    'usage missing, as text, with counts as text',
    [item('done', words), completed({ usage: 'x', output: null })],
    { text: 'x' },
  );
  told('response: null', [item('done', words), { type: 'response.completed', response: null }], {
    text: 'x',
  });
  told('no end: broken off', [item('done', words)], { error: /broke off/, requests: 2 });
  told('[DONE] instead of the end', [item('done', words), 'data: [DONE]\n\n'], { text: 'x' });
  told('a text as a number', [{ type: 'response.output_text.delta', delta: 7 }, completed()], { text: '7' });
  told(
    'an error within the whole response',
    [completed({ error: { code: 'server_error', message: 'oh' } })],
    { error: /500: oh/, requests: 2 },
  );
  told(
    'an unknown reason for an incomplete response',
    [
      item('done', words),
      { type: 'response.incomplete', response: { incomplete_details: { reason: 'tired' } } },
    ],
    { text: 'x', finish: 'stop' },
  );
  told(
    'a cut',
    [
      item('done', words),
      { type: 'response.incomplete', response: { incomplete_details: { reason: 'max_output_tokens' } } },
    ],
    { text: 'x', finish: 'length' },
  );
  told('the events of Chat Completions', [chunk({ content: 'x' }, 'stop')], {
    error: /its type is openai-compatible/,
    retryable: false,
  });
  told('text without the type of its event', [{ delta: 'x' }, completed()], {
    error: /an event has no type/,
    retryable: false,
  });
});

describe('google', () => {
  const gemini = (parts: unknown, over: object = {}, more: object = {}) => ({
    candidates: [{ content: { parts, role: 'model' }, ...over }],
    ...more,
  });
  const END = { finishReason: 'STOP' };
  const told = (name: string, events: readonly Event[], wanted: Wanted) =>
    reads('google', name, events, { requests: 1, ...wanted });

  for (const [name, usageMetadata] of [
    ['missing', undefined],
    ['null', null],
    ['text', 'x'],
    ['with counts as text', { promptTokenCount: '12', promptTokensDetails: [{}] }],
  ] as const)
    told(`usage ${name}`, [gemini([{ text: 'x' }], END, { usageMetadata })], { text: 'x' });
  told(
    'candidates null, empty, missing',
    [{ candidates: null }, { candidates: [] }, {}, gemini([{ text: 'x' }], END)],
    { text: 'x' },
  );
  told(
    'content missing, null, without parts',
    [
      gemini(undefined),
      { candidates: [{ content: null }] },
      { candidates: [{}] },
      gemini([{ text: 'x' }], END),
    ],
    { text: 'x' },
  );
  told('one part that is no list', [gemini({ text: 'x' }, END)], { text: 'x' });
  told(
    'parts of other kinds',
    [gemini([{ executableCode: { code: '1' } }, { fileData: {} }, { text: 'x' }, null], END)],
    { text: 'x' },
  );
  told(
    'a safety rating without its fields, citations of another form',
    [gemini([{ text: 'x' }], { ...END, safetyRatings: [{}], groundingMetadata: 'x', citationMetadata: 7 })],
    { text: 'x' },
  );
  told(
    'thought as text',
    [
      gemini(
        [
          { text: 'hm', thought: true },
          { text: 'x', thought: null },
        ],
        END,
      ),
    ],
    { text: 'x', reasoning: 'hm' },
  );
  told(
    'arguments as text, or none',
    [gemini([{ functionCall: { name: 'fork', args: '{"n":1}' } }, { functionCall: { name: 'fork' } }], END)],
    {
      calls: [
        ['fork', { n: 1 }],
        ['fork', {}],
      ],
    },
  );
  told('an id as a number', [gemini([{ functionCall: { id: 7, name: 'fork', args: { n: 1 } } }], END)], {
    calls: CALL,
  });
  told('a call without name', [gemini([{ functionCall: { args: {} } }], END)], { calls: [['', {}]] });
  for (const reason of ['STOP', 'stop', 'FINISH', 'tired'])
    told(`the word for the end ${reason}`, [gemini([{ text: 'x' }], { finishReason: reason })], {
      text: 'x',
      finish: 'stop',
    });
  told(
    'the end in an event of its own',
    [gemini([{ text: 'x' }]), { candidates: [{ finishReason: 'STOP' }] }],
    { text: 'x' },
  );
  told('usage after the end', [gemini([{ text: 'x' }], END), { usageMetadata: { promptTokenCount: 1 } }], {
    text: 'x',
  });
  told('no word for the end', [gemini([{ text: 'x' }])], { error: /broke off/, requests: 2 });
  told('blocked', [{ promptFeedback: { blockReason: 'SAFETY' } }], { finish: 'refused' });
  told('a call that could not be formed', [gemini([], { finishReason: 'MALFORMED_FUNCTION_CALL' })], {
    error: /MALFORMED_FUNCTION_CALL/,
    requests: 2,
  });
  told(
    'an error in the stream',
    [{ error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } }],
    { error: /^503: The model is overloaded/, requests: 2 },
  );
  told('an error without its fields', [{ error: { message: 'no' } }], { error: /no/, requests: 2 });
});
