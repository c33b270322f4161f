// Proves how calls, events and unfinished items look in a scrollback.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PlacedMessage } from '../../../src/records/conversation/message.ts';
import type { UiStyle } from '../../../src/render/style.ts';
import type { Entry } from '../../../src/tui/state/entry.ts';
import { transcript } from '../../../src/tui/state/transcript.ts';
import { EMPTY_PANE } from '../../../src/tui/state/ui-state.ts';
import { MarkdownTail } from '../../../src/tui/text/markdown.ts';
import { agentNames } from '../../../src/tui/views/transcript/agent-names.ts';
import { entryBelow, entryView, finishedEntries } from '../../../src/tui/views/transcript/entry-view.ts';
import { streamingView } from '../../../src/tui/views/transcript/streaming-view.ts';
import { ASCII, at, call, drawn, PLAIN, result, SPOKEN, says, story, user } from '../ui-fixture.ts';

const names = agentNames(story());

function draw(messages: readonly PlacedMessage[], style: UiStyle = PLAIN, width = 60): string[] {
  const entries = transcript(messages, 'main');
  return entries.flatMap((entry, index) =>
    drawn(entryBelow(entry, entries[index - 1] ?? null, width, style, names)),
  );
}

function drawCall(
  name: string,
  input: object,
  output: string,
  status: 'ok' | 'error' | 'denied' = 'ok',
  style = PLAIN,
): string[] {
  return draw(
    [says('main', 1, '', call('c', name, input)), result('main', 2, 'c', name, output, status)],
    style,
  );
}

function event(
  event: 'killed' | 'error' | 'waited' | 'asked',
  text: string,
  data?: Record<string, unknown>,
): PlacedMessage {
  return at('main', 1, { kind: 'event', content: { event, text, ...(data === undefined ? {} : { data }) } });
}

describe('a call', () => {
  it('of patch shows what has changed without being opened, and how much more there is', () => {
    const head = '--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n';
    assert.deepEqual(drawCall('patch', { path: 'a.txt' }, `${head} one\n-two\n+three`), [
      '● patch a.txt  ✓',
      '  @@ -1,2 +1,2 @@',
      '   one',
      '  -two',
      '  +three',
    ]);
    const long = drawCall('patch', { path: 'a.txt' }, `${head}${'+x\n'.repeat(40)}`);
    assert.deepEqual([long.length, long.at(-1)], [14, '  … +29 lines']);
  });

  it('of patch shows, when opened, what it removes and adds, with no hidden characters', () => {
    const edits = [{ old_text: 'two', new_text: `TWO\u202e${' '.repeat(5_000)}rm` }];
    const entries = transcript([says('main', 1, '', call('c', 'patch', { path: 'a.txt', edits }))], 'main');
    const [entry] = entries.filter((one) => one.type === 'call');
    assert.ok(entry !== undefined);
    assert.deepEqual(drawn(entryView({ ...entry, opened: true }, 60, PLAIN, names)), [
      '● patch a.txt',
      '  @@',
      '  -two',
      '  +TWO\\u{202e}[5000 spaces]rm',
    ]);
  });

  it('that was read otherwise than it was written shows what ran, and what was changed', () => {
    const changes = [
      'Bash → bash',
      'cmd → command',
      `description ${'\u202e'}left out`,
      'and so on and so on',
    ];
    const read = { name: 'bash', input: '{"command":"ls"}', changes };
    const part = {
      type: 'call' as const,
      id: 'c',
      name: 'Bash',
      input: '{"cmd":"ls","description":"x"}',
      read,
    };
    const message = at('main', 1, { kind: 'assistant', content: { model: 'm', parts: [part] } });
    assert.deepEqual(draw([message, result('main', 2, 'c', 'bash', 'a')], PLAIN, 100), [
      '● bash ls (Bash → bash; cmd → command; description left out; and so on…)  ✓',
      '  a',
    ]);
  });

  it('is one line with the beginning of its output', () => {
    const output = Array.from({ length: 20 }, (_, index) => `line ${index}`).join('\n');
    assert.deepEqual(drawCall('bash', { command: 'ls -la' }, output), [
      '● bash ls -la  ✓',
      '  line 0',
      '  line 1',
      '  line 2',
      '  … +17 lines',
    ]);
    assert.deepEqual(drawCall('bash', { command: 'ls' }, '1\n2\n3\n4\n'), [
      '● bash ls  ✓',
      '  1',
      '  2',
      '  3',
      '  4',
    ]);
    assert.deepEqual(drawCall('bash', { command: 'true' }, ''), ['● bash true  ✓']);
  });

  it('shows all output when it is opened', () => {
    const output = Array.from({ length: 20 }, (_, index) => `line ${index}`).join('\n');
    const [entry] = transcript(
      [says('main', 1, '', call('c', 'bash')), result('main', 2, 'c', 'bash', output)],
      'main',
    );
    const opened = { ...(entry as Extract<Entry, { type: 'call' }>), opened: true };
    assert.equal(drawn(entryView(opened, 60, PLAIN, names)).length, 21);
  });

  it('says in one word how it ended', () => {
    assert.deepEqual(drawCall('bash', { command: 'false' }, 'exit 1', 'error'), [
      '● bash false  ✗ error',
      '  exit 1',
    ]);
    assert.equal(drawCall('bash', { command: 'rm' }, 'no', 'denied')[0], '● bash rm  ✗ denied');
    assert.equal(drawCall('bash', { command: 'ls' }, '', 'ok', SPOKEN)[0], 'bash ls: ok');
    assert.equal(drawCall('bash', { command: 'ls' }, '', 'ok', ASCII)[0], '* bash ls  +');
  });

  it('keeps its mark visible when the command is long', () => {
    const [line] = drawCall('bash', { command: 'x'.repeat(200) }, '');
    assert.match(line ?? '', /^● bash x+… {2}✓$/);
    assert.equal(line?.length, 60);
  });

  it('of an agent names the agent', () => {
    const child = JSON.stringify({ agent_id: 'file-reader', name: 'file-reader' });
    assert.deepEqual(drawCall('fork', { name: 'file-reader', prompt: 'read' }, child), [
      '● fork file-reader  » slot 1',
    ]);
    assert.deepEqual(drawCall('kill', { agent_id: 'file-reader' }, '{"killed":[]}'), [
      '● kill file-reader  ✓',
    ]);
    assert.deepEqual(drawCall('kill', { agent_ids: ['file-reader', 'gone'] }, '{"killed":[]}'), [
      '● kill file-reader, gone  ✓',
    ]);
    assert.deepEqual(drawCall('send', { to: 'file-reader', message: 'x' }, '{}'), [
      '● send to file-reader  ✓',
    ]);
    assert.deepEqual(drawCall('spawn_agents', { tasks: [1, 2] }, '{}'), ['● spawn_agents 2 tasks  ✓']);
  });

  it('of wait shows the result of each agent', () => {
    const results = [
      { agent_id: 'a', name: 'file-reader', status: 'received', message: '3 leaks\nfound' },
      {
        agent_id: 'b',
        name: 'tester',
        status: 'idle',
        last_reply: 'ok',
        did: '0 tool calls; 1 s; 9 tokens',
      },
      { agent_id: 'c', name: 'x', status: 'running' },
    ];
    const input = { timeout: 30, from_agents: ['a', 'b', 'c'] };
    assert.deepEqual(drawCall('wait', input, JSON.stringify({ results, timed_out: true })), [
      '● wait 30s on 3 agents  ! timed out',
      '  file-reader    ✓ received  3 leaks found',
      '  tester         ○ idle      (0 tool calls) ok',
      '  x              ◐ running',
    ]);
    const nothing = drawCall('wait', { timeout: 0 }, '{"status":"timeout"}');
    assert.deepEqual(nothing, ['● wait 0s for a message  ! timed out', '  nothing came, timed out']);
  });

  it('with malformed arguments or output is shown unchanged', () => {
    const odd: PlacedMessage = at('main', 1, {
      kind: 'assistant',
      content: { model: 'x', parts: [{ type: 'call', id: 'c', name: 'wait', input: '{broken' }] },
    });
    assert.deepEqual(draw([odd, result('main', 2, 'c', 'wait', '{"results":[1]}')]), [
      '● wait {broken  ✓',
      '  {"results":[1]}',
    ]);
  });
});

describe('an event', () => {
  const data = { by: 'you', target: 'main', target_name: 'main', descendants: 0 };

  it('of a kill says who was killed, and how many', () => {
    assert.deepEqual(draw([event('killed', 'kill event: main by you, 0 descendants', data)]), [
      '✗ kill event: by you, 0 descendants',
    ]);
    const other = { ...data, target: 'other' };
    assert.deepEqual(draw([event('killed', 'kill event: other by you, 1 descendant', other)]), [
      '✗ kill event: other by you, 1 descendant',
    ]);
    assert.deepEqual(draw([event('error', 'no key')], ASCII), ['x no key']);
    assert.deepEqual(draw([event('error', '400: bad', { kind: 'bad_request' })], ASCII, 90), [
      'x 400: bad',
      '  /retry without-last goes on without the refused message; /retry asks again',
    ]);
    assert.deepEqual(draw([event('error', 'broken', { kind: 'aborted' })], SPOKEN), [
      'broken',
      '/retry asks again',
    ]);
    assert.deepEqual(draw([event('asked', 'asked: bash rm')], SPOKEN), ['asked: bash rm']);
  });

  for (const [kind, text, next] of [
    ['auth', '401: invalid x-api-key', 'the provider refuses the key: /setup'],
    ['no_model', '404: model: claude-nope', 'does not have this model, or not for this key: /model'],
    [
      'no_tools',
      '400: qwen does not support tools',
      'the model or its server takes no tools: /model chooses another one',
    ],
    ['rate_limit', '429: too many (gave up after 6 tries)', 'asks to slow down: wait a while, then: /retry'],
    ['overloaded', '529: Overloaded', 'the provider has failed or is overloaded: wait a while, then: /retry'],
    ['network', 'cannot reach example.com', 'no connection to the provider: check the network'],
    ['no_credit', 'the account has no credit left', 'add credit at the provider, then: /retry'],
  ] as const)
    it(`of a failure says what helps: ${text}`, () => {
      const [what = '', then = '', ...more] = draw([event('error', text, { kind })], PLAIN, 110);
      assert.ok(what.includes(text) && then.includes(next) && more.length === 0, then);
    });

  it('of a person’s wait shows its rows', () => {
    const results = [{ agent_id: 'a', name: 'x', status: 'dead' }];
    assert.deepEqual(draw([event('waited', JSON.stringify({ results, interrupted: true }))]), [
      '● wait ended',
      '  x    ✗ dead',
      '  interrupted',
    ]);
  });
});

describe('what is not finished', () => {
  const entries = transcript(
    [
      user('main', 1, 'go'),
      says('main', 2, 'ok', call('a', 'bash', { command: 'a' }), call('b', 'bash', { command: 'b' })),
      result('main', 3, 'b', 'bash', 'B'),
    ],
    'main',
  );
  const view = (change: object, height = 20): string[] =>
    streamingView(
      { ...EMPTY_PANE, entries, ...change },
      { width: 40, height, style: PLAIN, names, hidden_calls: [], text: new MarkdownTail() },
    );

  it('begins at the first call without a result', () => {
    assert.equal(finishedEntries(entries), 2);
    assert.equal(finishedEntries(entries.slice(0, 2)), 2);
    assert.deepEqual(view({}), ['● bash a', '● bash b  ✓', '  B']);
  });

  it('shows the newest output of a call, of a thought, and of streamed text', () => {
    assert.deepEqual(view({ output: new Map([['a', '1\n2\n3\n4\n']]) }).slice(0, 4), [
      '● bash a',
      '┆ 2',
      '┆ 3',
      '┆ 4',
    ]);
    assert.deepEqual(view({ entries: [], reasoning: 'one\ntwo\nthree' }), ['┆ two', '┆ three']);
    assert.deepEqual(view({ entries: [], streaming: '**a** b\n\n- c', reasoning: 'x' }), ['a b', '', '- c']);
  });

  it('shows the end where space is short', () => {
    assert.deepEqual(view({ entries: [], streaming: '1\n\n2\n\n3' }, 2), ['', '3']);
    assert.deepEqual(view({}, 0), []);
  });
});

it('shows the requested call in one row with no hidden characters', () => {
  assert.deepEqual(
    draw([event('asked', `asked: bash echo a${'\n'.repeat(300)}touch b${' '.repeat(5_000)};c`)]),
    ['! asked: bash echo a ⏎ [299 empty lines] ⏎ touch b[5000', '  spaces];c'],
  );
});

describe('a call that needed consent', () => {
  const told = (seq: number, event: 'asked' | 'answered', call_id: string, text: string): PlacedMessage =>
    at('main', seq, { kind: 'event', content: { event, text, data: { call_id } } });
  const begun = [
    says('main', 1, '', call('a', 'bash', { command: 'rm a' }), call('b', 'bash', { command: 'rm b' })),
    told(2, 'asked', 'a', 'asked: bash rm a'),
    told(3, 'asked', 'b', 'asked: bash rm b'),
    told(4, 'answered', 'b', 'allowed by telegram:7: bash'),
  ];

  it('says who answered, the question is over; another one of the same tool is still open', () => {
    assert.deepEqual(draw(begun), ['● bash rm a', '● bash rm b']);
    const ended = [
      ...begun,
      told(5, 'answered', 'a', 'denied by you: bash'),
      result('main', 6, 'a', 'bash', 'bash was denied by the user.', 'denied'),
      result('main', 7, 'b', 'bash', 'gone'),
    ];
    assert.deepEqual(draw(ended), [
      '● bash rm a  ✗ denied by you',
      '  bash was denied by the user.',
      '● bash rm b  ✓ allowed by telegram:7',
      '  gone',
    ]);
    assert.deepEqual(
      draw(ended, SPOKEN).filter((line) => line.startsWith('bash rm')),
      ['bash rm a: denied by you', 'bash rm b: ok, allowed by telegram:7'],
    );
  });

  it('of an older ledger, which does not name the call, keeps its events', () => {
    const old = begun.map((message) =>
      message.kind === 'event'
        ? { ...message, content: { event: message.content.event, text: message.content.text } }
        : message,
    );
    assert.equal(draw(old as PlacedMessage[]).filter((line) => /asked|allowed/.test(line)).length, 3);
  });
});
