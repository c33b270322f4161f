// Proves how each state of an agent, a tree and a run reads in one word and in one line (docs/guarantees.md#outcomes).
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FailureKind } from '../../src/records/agent/failure.ts';
import { type AgentState, newTurn } from '../../src/records/agent/state.ts';
import { OUTCOMES, outcomeOf, outcomeOfTree, shownWord } from '../../src/records/run/outcome.ts';
import { outcomeOfRun } from '../../src/records/run/run-end.ts';
import { agent } from '../tui/ui-fixture.ts';

const turn = newTurn(0);
const LIMIT = 'limit reached: 100 model requests in one turn';
const failure = (kind: FailureKind, error: string) => ({ kind, error, retryable: false });
const call = (id: string) => ({ id, name: 'bash', input: '{}', side_by_side: true, idempotent: false });
const running = (parts: Partial<Extract<AgentState, { type: 'executing' }>['running'][number]>[]) => ({
  ...{ type: 'executing' as const, seq: 1, queued: [], results: [], spawned: [], early: [], turn },
  running: parts.map((part, index) => ({ call: call(`c${index}`), ...part })),
});
const noon = new Date(2026, 10, 21, 12, 4).getTime();
const errored = (kind: FailureKind, error: string): AgentState => ({
  type: 'errored',
  failure: failure(kind, error),
});

/** States of one agent, and their outcome in words; the word is its beginning. */
const STATES: readonly (readonly [string, AgentState])[] = [
  ['done', { type: 'idle' }],
  ['done', { type: 'completed', result: 'r' }],
  [`cut short: ${LIMIT}`, { type: 'idle', limit: LIMIT }],
  [`cut short: ${LIMIT}`, { type: 'completed', result: 'r', limit: LIMIT }],
  ['cut short: no tokens left', errored('limit', 'no tokens left')],
  ['cut short: run time of 2 s', { type: 'failed', failure: failure('timed_out', 'run time of 2 s') }],
  ['declined: the model declined to answer', errored('refused', 'the model declined to answer')],
  ['stopped by you', { type: 'idle', stopped_by: 'you' }],
  ['stopped: killed by you', { type: 'killed', by: 'you' }],
  ['stopped: not needed', { type: 'failed', failure: failure('cancelled', 'not needed') }],
  ['failed: auth: 401: no such key', errored('auth', '401:\n no such key')],
  ['waiting for you: 1 approval', running([{ ask: { id: 'a', at: 0 } }, {}])],
  [
    'waiting for you: 2 approvals',
    running([{ ask: { id: 'a', at: 0 } }, { questions: [{ id: 'q', at: 0, tool: 't', subject: 's' }] }]),
  ],
  [
    'waiting for you: 1 approval',
    { type: 'requesting', attempt: 1, turn, asked: [{ id: 'q', at: 0, tool: 't', subject: 's' }] },
  ],
  ['working', running([{ ask: { id: 'a', at: 0 }, approved: true }])],
  ['working', { type: 'requesting', attempt: 1, turn }],
  ['working', running([{ wait: { from: null, deadline: noon } }, {}])],
  ['waiting for a message until 12:04', running([{ wait: { from: null, deadline: noon } }])],
  ['waiting for 2 agents until 12:04', running([{ wait: { from: ['a', 'b'], deadline: noon } }])],
  ['waiting for 1 agent', running([{ child: 'x' }])],
  ['waiting for 1 agent', { type: 'awaiting', pending: ['x'], results: [], spawned: [], turn }],
  ['waiting for a message until 12:04', { type: 'waiting', wait: { from: null, deadline: noon }, since: 0 }],
];

describe('the outcome of an agent', () => {
  it('is one word and one line for every state', () => {
    for (const [text, state] of STATES) {
      const one = outcomeOf({ state, updated_at: noon - 60_000 });
      assert.equal(one.outcome_text, text);
      const word = OUTCOMES.toSorted((a, b) => b.length - a.length).find((name) =>
        text.startsWith(name.replaceAll('_', ' ')),
      );
      assert.equal(one.outcome, word);
    }
  });

  it('tells the day of a time that is not near, and what a working agent does', () => {
    const state = running([{ wait: { from: null, deadline: noon } }]);
    const far = outcomeOf({ state, updated_at: noon - 86_400_000 });
    assert.equal(far.outcome_text, 'waiting for a message until Nov 21, 12:04');
    const farther = outcomeOf({ state, updated_at: noon - 200 * 86_400_000 });
    assert.equal(farther.outcome_text, 'waiting for a message until Nov 21 2026, 12:04');
    assert.equal(outcomeOf({ state: running([{}]), doing: 'bash ls' }).outcome_text, 'working: bash ls');
  });

  it('is open before a run begins and while there is mail to read; a process is missing only then', () => {
    const idle: AgentState = { type: 'idle' };
    assert.equal(outcomeOf({ state: idle, origin: 'cron' }).outcome_text, 'waiting for its turn');
    assert.equal(outcomeOf({ state: idle, unread: true }).outcome, 'working');
    assert.equal(outcomeOf({ state: { type: 'killed', by: 'you' }, unread: true }).outcome, 'stopped');
    assert.equal(
      outcomeOf({ state: idle, unread: true }, 'nobody leads it').outcome_text,
      'unled: nobody leads it',
    );
    assert.equal(outcomeOf({ state: idle }, 'nobody leads it').outcome, 'done');
    const asking = running([{ ask: { id: 'a', at: 0 } }]);
    assert.equal(outcomeOf({ state: asking }, 'nobody leads it').outcome, 'waiting_for_you');
  });
});

const HOW = '. To raise it and continue: coppice resume main --limit turns=200';

describe('the outcome of a tree', () => {
  const tree = (root: AgentState, others: readonly AgentState[], total?: number) =>
    outcomeOfTree(
      'main',
      [
        agent('main', null, { state: root }),
        ...others.map((state, index) => agent(`c${index}`, 'main', { state })),
      ],
      total,
    ).outcome_text;
  const [IDLE, WORKS]: AgentState[] = [{ type: 'idle' }, { type: 'requesting', attempt: 1, turn }];
  const ASKS = running([{ ask: { id: 'a', at: 0 } }]);

  it('is that of its root, unless others ask, work or wait', () => {
    const waits: AgentState = { type: 'awaiting', pending: ['c0'], results: [], spawned: [], turn };
    const rows: [string, AgentState, AgentState[]][] = [
      ['done', IDLE as AgentState, [IDLE as AgentState]],
      ['failed: auth: no', errored('auth', 'no'), [IDLE as AgentState]],
      ['working: 1 of 3 agents', waits, [WORKS as AgentState, IDLE as AgentState]],
      ['working: 1 of 2 agents', { type: 'idle', limit: LIMIT }, [WORKS as AgentState]],
      ['waiting for you: 1 approval', waits, [ASKS, WORKS as AgentState]],
      ['waiting for you: 2 approvals', waits, [ASKS, ASKS]],
      ['waiting for 1 agent', waits, [IDLE as AgentState]],
    ];
    for (const [text, root, others] of rows) assert.equal(tree(root, others), text);
  });

  it('has how to go on as a field, too; what an error says of it is not taken for that', () => {
    const quoting = errored('network', `it said "x${HOW}"`);
    const all = (root: AgentState, other: AgentState) =>
      outcomeOfTree('main', [agent('main', null, { state: root }), agent('c', 'main', { state: other })]);
    const told = all({ type: 'idle' }, quoting);
    assert.deepEqual(
      [told.outcome_text, told.how_on],
      [`done, 1 of 1 failed: network: it said "x${HOW}"`, undefined],
    );
    const limited = all({ type: 'idle', limit: LIMIT }, quoting);
    assert.equal(
      limited.outcome_text,
      `cut short: ${LIMIT}, 1 of 1 failed: network: it said "x${HOW}"${HOW}`,
    );
    assert.equal(`. ${limited.how_on}`, HOW);
  });

  it('tells how many of the others did not end well, the first error, and nothing of those that were ended', () => {
    const killed: AgentState = { type: 'killed', by: 'you' };
    const bad = errored('auth', 'no key');
    assert.equal(tree({ type: 'idle' }, [bad, bad, killed], 8), 'done, 2 of 7 failed: auth: no key');
    const cut: AgentState = { type: 'completed', result: 'half', limit: LIMIT };
    assert.equal(
      tree({ type: 'idle' }, [bad, cut]),
      `done, 1 of 2 failed: auth: no key, 1 of 2 cut short: ${LIMIT}`,
    );
    assert.equal(
      tree({ type: 'idle', limit: LIMIT }, [bad]),
      `cut short: ${LIMIT}, 1 of 1 failed: auth: no key${HOW}`,
    );
    const crowd = errored('repeated_failure', 'limit "children" reached: 0 of 4 and 9 more. A person can');
    assert.match(tree({ type: 'idle' }, [crowd, cut]), /: coppice resume main --limit children=18$/);
    assert.equal(tree({ type: 'idle' }, [killed]), 'done');
  });

  it('is that of its root if a limit kept others from answering, and says so', () => {
    const owes = errored('limit', 'no tokens left');
    assert.equal(tree({ type: 'idle' }, [owes, owes]), 'done, 2 of 2 cut short: no tokens left');
  });
});

describe('the outcome of a run', () => {
  it('is what was recorded at its end; of older rows, what their status and error tell', () => {
    const recorded = { outcome: 'done', outcome_text: 'done, 1 of 2 failed' } as const;
    assert.deepEqual(outcomeOfRun({ status: 'completed', error: null, ...recorded }), recorded);
    const rows = [
      ['queued', null, 'waiting'],
      ['running', null, 'working'],
      ['completed', null, 'done'],
      ['completed', LIMIT, `cut short: ${LIMIT}`],
      ['timeout', LIMIT, `cut short: ${LIMIT}`],
      ['cancelled', 'cancelled by you', 'stopped: cancelled by you'],
      ['failed', 'no', 'failed: no'],
    ] as const;
    for (const [status, error, text] of rows)
      assert.equal(outcomeOfRun({ status, error }).outcome_text, text);
  });

  it('takes the place of a status that would hide it, and of no other', () => {
    assert.equal(shownWord('completed', 'cut_short'), 'cut_short');
    assert.equal(shownWord('idle', 'stopped'), 'stopped');
    assert.equal(shownWord('waiting', 'waiting_for_you'), 'waiting_for_you');
    assert.equal(shownWord('completed', 'done'), 'completed');
    assert.equal(shownWord('dead', 'stopped'), 'dead');
    assert.equal(shownWord('dead', 'failed'), 'failed', 'its creator ended it after it had failed');
    assert.equal(shownWord('timeout', 'cut_short'), 'timeout');
  });
});
