// Proves which mail an agent takes with a step, when, and with which origin; and which mail waits for its turn, for a read of the ledger, or for more mail.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Step } from '../../../src/kernel/step.ts';
import type { Agent } from '../../../src/records/agent/agent.ts';
import type { AgentState } from '../../../src/records/agent/state.ts';
import type { TaskTerms } from '../../../src/records/agent/task-terms.ts';
import type { Mail } from '../../../src/records/conversation/mail.ts';
import { Prompt } from '../../../src/records/conversation/prompt.ts';
import { CONFIG, termsOf } from '../../store/ledger-fixture.ts';
import {
  AT_WORK,
  agentOf,
  answer,
  call,
  executing,
  mailOf,
  NOW,
  play,
  resultsOf,
  type Scene,
  toldIn,
  toolOf,
} from './turn-stage.ts';

const kid = (id: string, over: Partial<Agent> = {}) =>
  agentOf(id, { parent_id: 'root', origin: 'spawn', state: AT_WORK, ...over });
const FROM_KID = { from_id: 'kid', from_name: 'kid' };
const taken = (made: ReturnType<typeof play>) => made.step?.consume ?? [];

it('a letter wakes a resting agent and starts a turn', () => {
  const mail = [mailOf('letter', 'hello')];
  for (const state of [
    { type: 'idle' },
    { type: 'errored', failure: { kind: 'network', error: 'x', retryable: true } },
  ] as const) {
    const made = play({ agent: { state, reply: 'old', sent_this_turn: true }, mail });
    assert.deepEqual(
      [toldIn(made), made.effects],
      [['human: hello'], [{ type: 'request-model', attempt: 1 }]],
    );
    assert.deepEqual(
      [taken(made), made.step?.reply, made.step?.sent_this_turn],
      [[{ mail_id: mail[0]?.id, seq: 2 }], null, false],
    );
  }
});

it('of several orders in one step, the last holds, also if it names what held before the step', () => {
  const mode = (name: string) => mailOf('control', { type: 'mode', mode: name });
  const model = (name: string) => mailOf('control', { type: 'model', model: name });
  const { model: before } = agentOf('self').config;
  const made = play({ mail: [mode('accept'), model('other/m'), mode('ask'), model(before)] });
  assert.deepEqual([made.step?.config?.permissions.mode, made.step?.config?.model], ['ask', before]);
});

it('while an agent works, mail waits; letters of people, events and announcements join before the next request, letters of agents do not', () => {
  const mail = [
    mailOf('letter', 'me too'),
    mailOf('letter', 'and I', FROM_KID),
    mailOf('event', 'ding'),
    mailOf('announce', { agent_id: 'kid', outcome: { type: 'success', result: 'r' } }, FROM_KID),
  ];
  const others = [kid('kid')];
  assert.equal(play({ agent: { state: executing(call('c1', 'bash')) }, mail, others }).step, null);
  assert.equal(play({ agent: { state: AT_WORK }, mail, others }).step, null);
  const settled = {
    type: 'call-settled',
    at: NOW,
    result: { call_id: 'c1', name: 'bash', status: 'ok', output: '' },
    consequences: [],
    spawned: [],
  } as const;
  const joined = (reports: boolean) =>
    toldIn(
      play(
        {
          agent: { state: executing(call('c1', 'bash')) },
          mail,
          others,
          view: { context: { reports, submits: false, turns: 9 } },
        },
        { type: 'event', event: settled },
      ),
    );
  const [event, announced, third, ...rest] = joined(false);
  assert.deepEqual([event, third, rest], ['system: ding', 'human: me too', []]);
  assert.match(announced ?? '', /^system: .*kid/);
  // An agent with one task does not rest before it ends, so letters of agents join, too.
  assert.match(joined(true)[2] ?? '', /^mail: A message arrived from another agent/);
});

it('letters of agents come in one message, framed by a delimiter that none of them can know', () => {
  const mail = [
    mailOf('letter', 'one', FROM_KID),
    mailOf('letter', 'you', {}),
    mailOf('letter', 'two', FROM_KID),
  ];
  const made = play({ mail, others: [kid('kid')], view: { id: () => 'abcdefgh-ijk' } });
  const [first, second] = toldIn(made);
  assert.match(
    first ?? '',
    /^mail: 2 messages arrived.*\n\n--- abcdefgh message from kid \(agent kid\), [\s\S]*one\n--- abcdefgh end\n\n[\s\S]*two/,
  );
  assert.equal(second, 'human: you');
  assert.deepEqual(
    taken(made).map(({ seq }) => seq),
    [2, 2, 3],
  );
});

it('an agent that follows notices is told once per batch and reads the letters itself', () => {
  const mail = [
    mailOf('letter', 'one', FROM_KID),
    mailOf('letter', 'two', FROM_KID),
    mailOf('letter', 'x', { from_id: 'b' }),
  ];
  const made = play({ mail, view: { notices: true } });
  assert.deepEqual([toldIn(made), taken(made)], [['mail: got mail from kid\ngot mail from b'], []]);
  const last = mail[2]?.number;
  assert.equal(made.step?.noticed, last);
  const told = play({ agent: { noticed: last ?? 0 }, mail, view: { notices: true } });
  assert.equal(told.step, null);
  const news = play({ agent: { noticed: mail[1]?.number ?? 0 }, mail, view: { notices: true } });
  assert.deepEqual(toldIn(news), ['mail: got mail from b']);
});

it('a queued run begins with its task when its turn comes; until then all its mail waits', () => {
  const mail = [mailOf('letter', 'words'), mailOf('task', 'do it')];
  const begun = play({ mail });
  assert.deepEqual([begun.run, toldIn(begun)], ['begins', ['task: do it', 'human: words']]);
  assert.deepEqual(taken(begun), [
    { mail_id: mail[1]?.id, seq: 2 },
    { mail_id: mail[0]?.id, seq: 3 },
  ]);
  const waits = play({ mail, view: { mayBegin: () => false } });
  assert.deepEqual([waits.run, waits.step], ['queues', null]);
  const unasked = { mayBegin: () => assert.fail('it is not asked') };
  const errored: AgentState = { type: 'errored', failure: { kind: 'network', error: 'x', retryable: true } };
  for (const scene of [
    { mail: [mailOf('letter', 'x')] },
    {},
    { mail, agent: { state: AT_WORK } },
    { mail, agent: { state: errored } },
  ])
    assert.equal(play({ ...scene, view: unasked }).run, null);
  assert.equal(play({ mail, agent: { state: errored } }).step, null);
});

const terms = (over: Partial<TaskTerms>) => termsOf({ kind: 'session', run_id: 'run-1', ...over });

it('the end of a background run is announced with its label, and may delete its conversation', () => {
  const mail = [mailOf('announce', { agent_id: 'kid', outcome: { type: 'success', result: 'r' } }, FROM_KID)];
  const told = (task: TaskTerms | null) => {
    const config = task === null ? CONFIG : { ...CONFIG, task };
    const made = play({ mail, others: [kid('kid', { config })] });
    return [toldIn(made)[0]?.match(/label-1|run-1|kid/)?.[0], made.step?.remove];
  };
  assert.deepEqual(told(terms({ label: 'label-1' })), ['label-1', []]);
  assert.deepEqual(told(terms({ cleanup: 'delete' })), ['run-1', ['kid']]);
  assert.deepEqual(told(terms({ cleanup: 'delete', delivers: true })), ['run-1', []]);
  assert.deepEqual(told(null), ['kid', []]);
});

it('unreadable mail is set aside with a notice to people', () => {
  const mail = [mailOf('announce', '{'), mailOf('control', 'x'), mailOf('letter', 'go')];
  const made = play({ mail });
  assert.deepEqual(toldIn(made), [
    'notice: mail (control) from you is malformed and was discarded',
    'notice: mail (announce) from you is malformed and was discarded',
    'human: go',
  ]);
  assert.deepEqual(
    taken(made).map(({ seq }) => seq),
    [2, 3, 4],
  );
  const fan_in = play({ agent: { state: awaiting(2) }, mail: [mailOf('outcome', '{')] });
  assert.deepEqual([toldIn(fan_in).length, taken(fan_in).length], [1, 1]);
});

function awaiting(count: number, early = 0): AgentState {
  const ids = Array.from({ length: count }, (_, place) => `kid-${place}`);
  const outcome = { type: 'success' as const, result: 'r' };
  const results = ids.slice(0, early).map((agent_id) => ({ agent_id, outcome }));
  const spawned = ids.map((agent_id) => ({ agent_id, task: 't' }));
  return {
    type: 'awaiting',
    pending: ids.slice(early),
    results,
    spawned,
    turn: { requests: 1, failing: [], grace: null, started_at: 1 },
  };
}

const outcomes = (count: number, from = 0): Mail[] =>
  Array.from({ length: count }, (_, place) => {
    const agent_id = `kid-${place + from}`;
    return mailOf('outcome', { agent_id, outcome: { type: 'success', result: 'r' } }, { from_id: agent_id });
  });

it('outcomes of a large fan-in are collected until half of the missing ones are there, unless something else happens', () => {
  const count = (state: AgentState, mail: readonly Mail[], ...inputs: Parameters<typeof play>[1][]) =>
    taken(play({ agent: { state }, mail }, ...inputs)).length;
  assert.equal(count(awaiting(32), outcomes(1)), 1);
  assert.equal(count(awaiting(33), outcomes(1)), 0);
  assert.equal(count(awaiting(33), outcomes(16)), 0);
  assert.equal(count(awaiting(33), outcomes(17)), 17);
  assert.equal(count(awaiting(40, 20), outcomes(10, 20)), 10);
  assert.equal(count(awaiting(40, 20), outcomes(9, 20)), 0);
  assert.equal(count(awaiting(33), [...outcomes(1), mailOf('control', { type: 'capture', text: 'x' })]), 2);
  const resume = { type: 'event', event: { type: 'resume', at: NOW } } as const;
  assert.equal(count(awaiting(33), outcomes(1), resume), 1);
  assert.equal(count(executing(call('c1', 'bash')), outcomes(1)), 1);
});

const delegating = (count: number): AgentState =>
  executing(
    ...Array.from({ length: count }, (_, place) => ({ call: call(`c${place}`), child: `kid-${place}` })),
  );

it('outcomes of many delegated calls are collected in the same way, and count before other events', () => {
  const count = (state: AgentState, mail: readonly Mail[]) => taken(play({ agent: { state }, mail })).length;
  assert.equal(count(delegating(32), outcomes(1)), 1);
  assert.equal(count(delegating(33), outcomes(16)), 0);
  assert.equal(count(delegating(33), outcomes(17)), 17);
  assert.equal(count(delegating(33), [...outcomes(1), mailOf('control', { type: 'capture', text: 'x' })]), 2);
  const cancel = {
    type: 'event',
    event: { type: 'cancel', at: NOW, by: 'you', reason: 'x', open: [] },
  } as const;
  const results = resultsOf(play({ agent: { state: delegating(33) }, mail: outcomes(1) }, cancel));
  assert.deepEqual([results[0], results.length], ['c0: ok: r', 33]);
});

it('outcomes that have arrived count before other events of a fan-in', () => {
  const cancel = {
    type: 'event',
    event: { type: 'cancel', at: NOW, by: 'you', reason: 'x', open: [] },
  } as const;
  const made = play(
    { agent: { state: awaiting(2) }, mail: outcomes(2), others: [kid('kid-0'), kid('kid-1')] },
    cancel,
  );
  assert.deepEqual([made.step?.state.type, made.step?.send], ['idle', []]);
});

it('outside a fan-in, events count in their order', () => {
  const cancel = {
    type: 'event',
    event: { type: 'cancel', at: NOW, by: 'you', reason: 'x', open: [] },
  } as const;
  const state = executing({ call: call('c1'), child: 'kid-0' });
  const made = play({ agent: { state }, mail: outcomes(1), others: [kid('kid-0')] }, cancel);
  assert.deepEqual([resultsOf(made), taken(made).length], [['c1: cancelled: Cancelled: x'], 1]);
});

it('an order is consumed, whether or not the state admits it', () => {
  const order = (body: object, scene: Scene = {}) => play({ ...scene, mail: [mailOf('control', body)] });
  const cancelled = order({ type: 'cancel', reason: 'enough' }, { agent: { state: AT_WORK } });
  assert.deepEqual([cancelled.step?.state.type, cancelled.effects], ['idle', [{ type: 'abort' }]]);
  const idle = order({ type: 'cancel', reason: 'enough' });
  assert.equal(taken(idle).length, 1);
  const captured = order({ type: 'capture', text: 'words' });
  assert.deepEqual(captured.step?.messages, [{ kind: 'capture', content: { text: 'words' } }]);
  const marked = order({ type: 'capture', text: '', mark: 'begun' });
  assert.deepEqual(marked.step?.messages, [{ kind: 'capture', content: { text: '', mark: 'begun' } }]);
  const state = executing({ call: call('c1', 'bash'), ask: { id: 'ask-1', at: 1 } });
  const allowed = order(
    { type: 'answer', ask_id: 'ask-1', verdict: 'allow', note: '' },
    { agent: { state } },
  );
  assert.deepEqual(allowed.effects, [{ type: 'run-call', call: call('c1', 'bash') }]);
});

it('a person waits from the time of the order; a cycle, the agent itself and a busy agent are refused with the reason', () => {
  const order = (from: readonly string[] | null, scene: Scene = {}, id = 'order-1') =>
    play({
      others: [kid('kid')],
      ...scene,
      mail: [mailOf('control', { type: 'wait', timeout_ms: 4_000, from }, { id })],
    });
  const made = order(['kid']);
  assert.deepEqual(made.step?.state, {
    type: 'waiting',
    wait: { from: ['kid'], deadline: 4_500 },
    since: 500,
  });
  assert.deepEqual(made.parked, [{ call_id: 'order-1', from: ['kid'] }]);
  assert.deepEqual([order(null).parked, order(null).step?.state.type], [[], 'waiting']);
  assert.deepEqual(toldIn(order(['root'])), ['notice: wait: an agent cannot wait for itself']);
  const busy = order(['kid'], { agent: { state: AT_WORK } });
  assert.deepEqual(
    [toldIn(busy), busy.parked],
    [['notice: wait: the agent is at work; interrupt it first'], []],
  );
  const overrides = new Map([['order-1', { code: 'WOULD_DEADLOCK' as const, message: 'a circle' }]]);
  const [refused] = toldIn(order(['kid'], { led: { overrides } }));
  assert.equal(refused, 'notice: {"error":{"code":"WOULD_DEADLOCK","message":"a circle"}}');
});

it('the order to summarise is followed at rest, and otherwise stays in the mailbox until a request is about to start', () => {
  const mail = [mailOf('control', { type: 'compact', note: 'names' })];
  assert.deepEqual(play({ mail }).step?.state, {
    type: 'requesting',
    attempt: 1,
    turn: { requests: 0, failing: [], grace: null, started_at: NOW },
    compacting: { note: 'names', rest: { type: 'idle' } },
  });
  assert.equal(play({ mail, agent: { state: AT_WORK } }).step, null);
  assert.equal(play({ mail, agent: { state: executing(call('c1')) } }).step, null);
  const settled = play(
    { mail, agent: { state: executing(call('c1')) } },
    {
      type: 'event',
      event: {
        type: 'call-settled',
        at: NOW,
        result: { call_id: 'c1', name: 'tool', status: 'ok', output: '' },
        consequences: [],
        spawned: [],
      },
    },
  );
  assert.deepEqual(settled.effects, [{ type: 'request-model', attempt: 1 }]);
  assert.ok(settled.step?.state.type === 'requesting' && settled.step.state.compacting?.note === 'names');
});

it('where other processes lead agents, the wait of a person begins after reading the ledger, and later mail is held until then', () => {
  const wait = (from: readonly string[] | null) =>
    mailOf('control', { type: 'wait', timeout_ms: 4_000, from }, { id: 'order-1' });
  const mail = [
    wait(['kid']),
    mailOf('control', { type: 'capture', text: 'x' }),
    mailOf('letter', 'later'),
    mailOf('task', 't'),
  ];
  const shared = { others: [kid('kid')], view: { shared: true } };
  const held = play({ ...shared, mail });
  assert.deepEqual([held.step, held.run], [null, null]);
  // The order alone holds a letter back, even without a task.
  assert.equal(play({ ...shared, mail: mail.slice(0, 3) }).step, null);
  assert.deepEqual(held.deferred, [
    {
      call: { id: 'order-1', name: 'wait', input: '{}', side_by_side: false, idempotent: true },
      look_up: [],
      needs: [],
      survey: true,
    },
  ]);
  const letters = play({ ...shared, mail: [wait(['kid']), mailOf('letter', 'later')] });
  assert.equal(letters.step, null);
  const outcome = mailOf('outcome', { agent_id: 'x', outcome: { type: 'success', result: 'r' } });
  assert.deepEqual(
    taken(play({ ...shared, mail: [...mail, outcome] })).map(({ mail_id }) => mail_id),
    [outcome.id],
  );
  const surveyed = play({ ...shared, mail: [wait(['kid'])], led: { surveyed: new Set(['order-1']) } });
  assert.equal(surveyed.step?.state.type, 'waiting');
  assert.equal(play({ ...shared, mail: [wait(null)] }).step?.state.type, 'waiting');
  assert.deepEqual(toldIn(play({ ...shared, mail: [wait(['kid'])], agent: { state: AT_WORK } })).length, 1);
  const errored: AgentState = { type: 'errored', failure: { kind: 'network', error: 'x', retryable: true } };
  assert.equal(play({ ...shared, mail: [wait(['kid'])], agent: { state: errored } }).step, null);
});

it('a person forks an agent in its current state', () => {
  const order = (over: object) =>
    play(
      {
        agent: { state: AT_WORK },
        others: [kid('there')],
        tools: [toolOf('tool')],
        mail: [mailOf('control', { type: 'fork', id: 'new-1', name: 'ann', prompt: 'go', ...over })],
      },
      answer('so far'),
    );
  const made = order({ captured: true });
  const [created] = made.step?.create ?? [];
  assert.deepEqual(
    [created?.agent.forked_from, created?.agent.state.type],
    [{ agent_id: 'root', seq: 2 }, 'requesting'],
  );
  assert.deepEqual(made.step?.messages.slice(1), [
    { kind: 'event', content: { event: 'forked', text: 'forked ann (new-1) by you' } },
    { kind: 'capture', content: { text: '', mark: 'ended' } },
  ]);
  const rests = order({ prompt: null });
  assert.deepEqual([rests.step?.create[0]?.agent.state.type, rests.step?.messages.length], ['idle', 2]);
  assert.deepEqual(toldIn(order({ id: 'there' })), ['notice: fork refused: agent there already exists']);
  const full = play({
    agent: { depth: 1_000 },
    mail: [mailOf('control', { type: 'fork', id: 'new-1', name: 'ann', prompt: 'go' })],
  });
  assert.match(toldIn(full)[0] ?? '', /^notice: fork refused: .*depth/);
});

it('a person retries a turn as it is: after half an answer, with it, or without the refused message', () => {
  const failure = { kind: 'network' as const, error: 'x', retryable: true };
  const says = (role: 'user' | 'assistant', text: string) =>
    role === 'user'
      ? ({ kind: 'user', content: { origin: 'human', text } } as const)
      : ({ kind: 'assistant', content: { model: 'm', parts: [{ type: 'text', text }] } } as const);
  const retried = (
    order: object,
    rows: readonly ReturnType<typeof says>[],
    over: Partial<Agent> = {},
    more: object = {},
  ) => {
    const prompt = new Prompt();
    for (const row of rows) prompt.append(row);
    const state = { type: 'errored' as const, failure: { ...failure, ...more } };
    const made = play({
      agent: { state, ...over },
      prompt,
      mail: [mailOf('control', { type: 'retry', ...order })],
    });
    newest = made.step;
    return [made.step?.state.type, ...toldIn(made)];
  };
  let newest: Step | null = null;
  const [asked, half] = [[says('user', 'q')], [says('user', 'q'), says('assistant', 'half')]];
  assert.deepEqual(retried({}, asked), ['requesting', 'retried: tried again']);
  assert.match(retried({}, half)[2] ?? '', /^system: /);
  const cut = retried({}, asked, { reply: 'the cut words' }, { kind: 'cut' });
  const { state } = newest as unknown as Step;
  assert.equal(state.type === 'requesting' && state.turn.unfinished, 'the cut words');
  assert.match(cut[2] ?? '', /^system: /);
  const left = 'left-out: left out of what the model is sent: the ';
  assert.deepEqual(retried({ without_last: true }, half), ['requesting', `${left}answer "half"`]);
  assert.deepEqual(retried({ without_last: true }, asked), ['idle', `${left}message "q"`]);
  assert.deepEqual(retried({ without_last: false }, asked), ['requesting', 'retried: tried again']);
  assert.deepEqual(retried({ without_last: true }, []), ['requesting', 'retried: tried again']);
  const refused = [says('user', 'bad'), says('assistant', 'a'), says('user', 'good')];
  const behind = retried({ without_last: true }, refused, {}, { behind_refused: 2 });
  assert.deepEqual(behind, ['requesting', `${left}message "bad"`]);
  const rows = (newest as unknown as Step).messages;
  assert.deepEqual(
    rows.map(({ content }) => 'data' in content && content.data),
    [{ behind: 2 }],
  );
});
