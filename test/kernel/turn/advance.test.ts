// Proves that a fault ends only what the agent is doing, whatever threw; who is told of the end of a turn; and the agent's fields after a step.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { agentAfter, killedAgent, placed } from '../../../src/kernel/turn/agent-after.ts';
import { doing } from '../../../src/kernel/turn/doing.ts';
import type { Input } from '../../../src/kernel/turn/led-agent.ts';
import { overrideFor } from '../../../src/kernel/turn/led-agent.ts';
import type { View } from '../../../src/kernel/turn/view.ts';
import type { Agent } from '../../../src/records/agent/agent.ts';
import { type AgentState, newTurn } from '../../../src/records/agent/state.ts';
import { NO_USAGE } from '../../../src/records/agent/usage.ts';
import { Prompt } from '../../../src/records/conversation/prompt.ts';
import { callArguments } from '../../../src/runtime/tool-catalog.ts';
import { CONFIG, newAsk, said, termsOf } from '../../store/ledger-fixture.ts';
import {
  AT_WORK,
  agentOf,
  answer,
  call,
  executing,
  mailOf,
  NOW,
  play,
  type Scene,
  toldIn,
} from './turn-stage.ts';

const CHANNEL = { ...CONFIG, channel: 'telegram:1' };
const FAILED: Input = {
  type: 'event',
  event: { type: 'request-failed', at: NOW, failure: { kind: 'network', error: 'no line', retryable: true } },
};

it('without input there is no step', () => {
  const made = play({});
  assert.deepEqual(made, {
    step: null,
    effects: [],
    deferred: [],
    consumed: new Set(),
    parked: [],
    answered: [],
    unused: [],
    wait_cursors: new Map(),
    run: null,
  });
});

it('an exception in a step ends the turn of the agent, and those that await it are told', () => {
  const hasMail = () => {
    throw new Error('boom');
  };
  const parked = { call: call('w1', 'wait'), wait: { from: ['kid'], deadline: 9_000 } };
  const scene: Scene = {
    agent: { state: executing(parked), config: CHANNEL },
    others: [agentOf('kid', { parent_id: 'root' })],
    mail: [mailOf('task', 'x')],
    view: { hasMail },
  };
  const made = play(scene);
  const { state } = made.step ?? {};
  assert.deepEqual(state?.type === 'errored' && state.failure, {
    kind: 'internal',
    error: 'a fault in Coppice ended this turn: boom',
    retryable: true,
  });
  assert.deepEqual(
    made.step?.deliver.map(({ body }) => body),
    ['The turn stopped: a fault in Coppice ended this turn: boom'],
  );
  assert.deepEqual([made.run, [...made.wait_cursors], made.effects], [null, [], [{ type: 'abort' }]]);
});

it('if reporting the end throws, the turn ends without a report', () => {
  for (const thrown of [new Error('boom'), Object.create(null)]) {
    let asked = 0;
    const relatives = {
      agent() {
        asked += 1;
        throw thrown;
      },
    } as unknown as View['relatives'];
    const made = play(
      { agent: { id: 'kid', parent_id: 'root', state: AT_WORK }, view: { relatives } },
      FAILED,
    );
    assert.equal(made.step?.state.type, 'errored');
    assert.deepEqual([made.step?.send, asked], [[], 2]);
  }
});

const reporting = { reports: true, submits: false, turns: 9 };

it('an outcome goes to a living parent, an announcement to one that does not wait', () => {
  const root = (state: AgentState = { type: 'idle' }) => agentOf('root', { state });
  const sent = (parent: Agent, over: Partial<Agent>) =>
    play(
      {
        agent: { id: 'kid', parent_id: 'root', state: AT_WORK, ...over },
        others: [parent],
        view: { context: reporting },
      },
      answer('done'),
    ).step?.send;
  const [mail, ...more] = sent(root(), { origin: 'spawn' }) ?? [];
  assert.deepEqual(
    [mail?.kind, mail?.to_id, mail?.from_id, mail?.sent_at, mail?.id, more],
    ['outcome', 'root', 'kid', NOW, 'id-0', []],
  );
  assert.deepEqual(JSON.parse(mail?.body ?? ''), {
    agent_id: 'kid',
    outcome: { type: 'success', result: 'done' },
  });
  assert.equal(sent(root(), { origin: 'session' })?.[0]?.kind, 'announce');
  assert.deepEqual(sent(root({ type: 'killed', by: 'you' }), { origin: 'spawn' }), []);
  assert.deepEqual(sent(root(), { origin: 'cron', parent_id: null }), []);
});

it('a scheduled run ends together with its forks, once', () => {
  const kids = [
    agentOf('a', { parent_id: 'root' }),
    agentOf('b', { parent_id: 'a' }),
    agentOf('c', { parent_id: 'root' }),
  ];
  const kills = (over: Partial<Agent>, ...inputs: readonly Input[]) =>
    play({ agent: { state: AT_WORK, ...over }, others: kids, view: { context: reporting } }, ...inputs).step
      ?.kill;
  assert.deepEqual(kills({ origin: 'cron' }, answer('done')), ['a', 'c']);
  assert.deepEqual(kills({ origin: 'session' }, answer('done')), []);
  assert.deepEqual(kills({ origin: 'cron' }, answer('', call('c1', 'bash'))), []);
});

it('a chat gets approvals to give and the reply of the root at the end of a turn', () => {
  const delivered = (over: Partial<Agent>, ...inputs: readonly Input[]) =>
    play({ agent: { state: AT_WORK, config: CHANNEL, ...over } }, ...inputs).step?.deliver.map(
      ({ id, kind, target, about, body }) => [id, kind, target, about, body],
    );
  assert.deepEqual(delivered({}, answer('hello')), [['reply-root-2', 'reply', 'telegram:1', null, 'hello']]);
  assert.deepEqual(delivered({ config: CONFIG }, answer('hello')), []);
  assert.deepEqual(delivered({ parent_id: 'x' }, answer('hello')), []);
  const task = termsOf({ kind: 'cron', run_id: 'r' });
  assert.deepEqual(delivered({ config: { ...CHANNEL, task } }, answer('hello')), []);
  assert.equal(delivered({}, FAILED)?.[0]?.[4], 'The turn stopped: no line');
  const ask = newAsk({ id: 'a1', root_id: 'root', agent_id: 'root', agent_name: 'root', call_id: 'c1' });
  const asked = delivered(
    { state: executing(call('c1', 'bash')), parent_id: 'x' },
    { type: 'event', event: { type: 'call-asked', at: NOW, ask } },
  );
  assert.deepEqual(asked, [['ask-a1', 'ask', 'telegram:1', 'a1', null]]);
});

/** The mail that a fork sends to its parent when this input ends its turn. */
function reported(input: Input, scene: Scene = {}, parent: AgentState = { type: 'idle' }) {
  const prompt = new Prompt();
  prompt.append({ kind: 'user', content: { origin: 'human', text: 'do it' } });
  prompt.append({
    kind: 'assistant',
    content: { model: 'm', parts: [{ type: 'text', text: 'some words' }] },
  });
  const agent = {
    id: 'kid',
    name: 'kid',
    parent_id: 'root',
    origin: 'fork',
    state: AT_WORK,
    ...scene.agent,
  } as const;
  const others = [agentOf('root', { state: parent }), ...(scene.others ?? [])];
  const made = play({ prompt, ...scene, agent, others }, input);
  return (made.step?.send ?? []).map(({ kind, to_id, body, sent_at }) => [
    kind,
    to_id,
    sent_at,
    JSON.parse(body),
  ]);
}

it('a fork whose turn ends without a letter to its parent is reported to it, whatever the parent does, unless it has ended', () => {
  const failure = { status: 'idle', success: false, error: 'no line', partial: 'some words' };
  assert.deepEqual(reported(FAILED), [['report', 'root', NOW, failure]]);
  assert.deepEqual(reported(FAILED, { prompt: new Prompt() })[0]?.[3], {
    status: 'idle',
    success: false,
    error: 'no line',
  });
  const summary = { status: 'idle', success: true, summary: 'done' };
  const told = [['report', 'root', NOW, summary]];
  for (const parent of [{ type: 'idle' }, AT_WORK] as const)
    assert.deepEqual(reported(answer('done'), {}, parent), told);
  assert.deepEqual(reported(answer('done'), { agent: { forked_from: { agent_id: 'root', seq: 1 } } }), told);
  assert.deepEqual(
    reported(answer('done'), { others: [agentOf('below', { parent_id: 'kid', state: AT_WORK })] }),
    told,
  );
  assert.deepEqual(reported(answer('done'), {}, { type: 'killed', by: 'x' }), []);
  assert.deepEqual(reported(answer('done'), { agent: { sent_this_turn: true } }), []);
  assert.equal(reported(FAILED, { agent: { sent_this_turn: true } }).length, 1, 'a failure is always told');
  assert.deepEqual(reported(answer('', call('c1', 'bash'))), []);
});

it('an interrupt by a person is not reported, except in a run on a timer, which waits for its forks', () => {
  const cancel: Input = {
    type: 'event',
    event: { type: 'cancel', at: NOW, by: 'you', reason: 'enough', open: [] },
  };
  assert.deepEqual(reported(cancel), []);
  const config = { ...CONFIG, task: termsOf({ kind: 'cron', run_id: 'r' }) };
  const [[kind, , , completion] = []] = reported(cancel, { agent: { config } });
  assert.deepEqual(
    [kind, completion],
    [
      'report',
      { status: 'idle', success: false, outcome: 'stopped', error: 'interrupted', partial: 'some words' },
    ],
  );
});

it('a run on a timer rests while a fork will still report, and ends with the turn after which none will', () => {
  const ends = (...others: readonly Agent[]) =>
    play(
      {
        agent: { state: AT_WORK, origin: 'cron' },
        others,
        view: { context: reporting, hasMail: ({ name }) => name === 'has mail' },
      },
      answer('done'),
    ).step?.state.type;
  const kid = (over: Partial<Agent>) => agentOf('kid', { parent_id: 'root', ...over });
  assert.equal(ends(kid({ state: AT_WORK })), 'idle');
  assert.equal(ends(kid({ name: 'has mail' })), 'idle');
  assert.equal(ends(kid({}), agentOf('below', { parent_id: 'kid', state: AT_WORK })), 'idle');
  assert.equal(ends(kid({})), 'completed');
  assert.equal(ends(kid({ state: AT_WORK, sent_this_turn: true })), 'completed', 'its report was read');
  assert.equal(ends(kid({ state: { type: 'killed', by: 'you' }, name: 'has mail' })), 'completed');
});

it('after a step the agent is as the step says', () => {
  const before = agentOf('root', {
    state: AT_WORK,
    calls: 2,
    deaths: 3,
    usage: { ...NO_USAGE, input: 5 } as never,
  });
  const usage = { ...NO_USAGE, input: 7 } as never;
  const request = { model: 'm', usage, started_at: 1, duration_ms: 2 };
  const { step } = play({ agent: before }, { ...answer('bye'), request } as Input);
  assert.ok(step !== null);
  const after = agentAfter(before, step);
  assert.deepEqual(
    [after.state.type, after.last_seq, after.reply, after.deaths, after.ended_at, after.calls],
    ['idle', 2, 'bye', 0, null, 2],
  );
  assert.equal((after.usage as unknown as { input: number }).input, 12);
  assert.equal(agentAfter(before, { ...step, state: AT_WORK }).deaths, 3);
  assert.equal(agentAfter(before, { ...step, calls: 4 }).calls, 6);
  assert.equal(agentAfter(before, { ...step, state: { type: 'completed', result: 'r' } }).ended_at, NOW);
  assert.equal(agentAfter(before, { ...step, config: CHANNEL }).config, CHANNEL);
  assert.equal(after.config, before.config);
});

it('the parked calls that close a cycle are refused, or all if none can be named', () => {
  const parked = [
    { call_id: 'c1', from: ['b'] },
    { call_id: 'c2', from: ['c'] },
  ];
  const names = (id: string) => (id === 'b' ? agentOf('b', { name: 'Ben' }) : undefined);
  const [only, ...more] = overrideFor(['a', 'b', 'a'], parked, names);
  assert.deepEqual([only?.[0], only?.[1].code, more], ['c1', 'WOULD_DEADLOCK', []]);
  assert.match(only?.[1].message ?? '', /: a → Ben → a\. /);
  assert.deepEqual(
    overrideFor(['a', 'x', 'a'], parked, names).map(([id]) => id),
    ['c1', 'c2'],
  );
  assert.deepEqual(
    overrideFor([], parked, names).map(([id]) => id),
    ['c1', 'c2'],
  );
});

it('a chosen model stays in the configuration; a step contains waits only when they change', () => {
  const chosen = play({}, { type: 'event', event: { type: 'model', at: NOW, model: 'other/m' } });
  assert.equal(chosen.step?.config?.model, 'other/m');
  const words = play({ mail: [mailOf('letter', 'x')] });
  assert.deepEqual(
    ['config' in (words.step ?? {}), words.step?.waits_for, words.step?.waits_until],
    [false, null, {}],
  );
});

it('calls that are started and stopped in the same step are never begun', () => {
  const cancel: Input = {
    type: 'event',
    event: { type: 'cancel', at: NOW, by: 'you', reason: 'x', open: [] },
  };
  const made = play({ agent: { state: AT_WORK } }, answer('', call('c1', 'bash')), cancel);
  assert.deepEqual(made.effects, [{ type: 'abort' }]);
  assert.deepEqual(toldIn(made).length, 1);
});

it('a letter to the parent is remembered as a report, one to others is not', () => {
  const sent = (to_id: string, kind: 'letter' | 'task') => {
    const { step } = play(
      {
        agent: { id: 'kid', parent_id: 'root', state: executing(call('c1', 'bash')) },
        others: [agentOf('root')],
      },
      {
        type: 'event',
        event: {
          type: 'call-settled',
          at: NOW,
          result: { call_id: 'c1', name: 'bash', status: 'ok', output: '' },
          consequences: [{ type: 'deliver-mail', mail: mailOf(kind, 'x', { to_id }) }],
          spawned: [],
        },
      },
    );
    return step?.sent_this_turn;
  };
  assert.deepEqual(
    [sent('root', 'letter'), sent('other', 'letter'), sent('root', 'task')],
    [true, false, false],
  );
});

const SETTLED: Input = {
  type: 'event',
  event: {
    type: 'call-settled',
    at: NOW,
    result: { call_id: 'c1', name: 'bash', status: 'ok', output: '' },
    consequences: [],
    spawned: [],
  },
};

it('the reply is the last text of a turn: not text beside calls, but all parts of an answer that was cut', () => {
  const reply = (
    over: Partial<Agent>,
    input: Input,
    context = { reports: false, submits: false, turns: 9 },
  ) => play({ agent: { reply: 'old', state: AT_WORK, ...over }, view: { context } }, input).step?.reply;
  assert.equal(reply({ state: executing(call('c1', 'bash')) }, SETTLED), 'old');
  assert.equal(reply({}, answer('I look', call('c1', 'bash'))), 'old');
  assert.equal(reply({}, answer('done'), reporting), 'done');
  const turn = (over: object) => ({ state: { ...AT_WORK, turn: { ...newTurn(1), ...over } } as AgentState });
  assert.equal(reply(turn({ unfinished: 'first, ' }), answer('second')), 'first, second');
  const late = { kind: 'limit', error: 'limit reached', retryable: false };
  assert.equal(reply(turn({ late, grace: late }), answer('all I have', call('c1', 'bash'))), 'all I have');
});

it('a stop withdraws questions to people and stops awaited children', () => {
  const cancel: Input = {
    type: 'event',
    event: { type: 'cancel', at: NOW, by: 'you', reason: 'x', open: [] },
  };
  const asked = executing({ call: call('c1', 'bash'), ask: { id: 'ask-1', at: 1 } });
  assert.deepEqual(play({ agent: { state: asked } }, cancel).step?.void_asks, ['ask-1']);
  const delegating = executing({ call: call('c1', 'bash'), child: 'kid' });
  const others = [agentOf('kid', { parent_id: 'root', state: AT_WORK })];
  const [mail] = play({ agent: { state: delegating }, others }, cancel).step?.send ?? [];
  assert.deepEqual(
    [mail?.kind, mail?.to_id, mail?.body],
    ['control', 'kid', '{"type":"cancel","reason":"x"}'],
  );
});

it('one line says what an agent is doing', () => {
  const line = (state: AgentState) => doing(state, callArguments());
  const bash = (input: unknown) => line(executing(call('c1', 'bash', input)));
  assert.equal(bash({ n: 1, command: 'ls -l', more: 'x' }), 'bash ls -l');
  for (const input of ['{', 'null', '7', { n: 1 }]) assert.equal(bash(input), 'bash');
  assert.equal(bash({ command: 'x'.repeat(75) }), `bash ${'x'.repeat(75)}`);
  assert.equal(bash({ command: 'x'.repeat(76) }), `bash ${'x'.repeat(74)}…`);
  assert.equal(bash({ command: 'a\n  b\0 😀' }), 'bash a b 😀');
  const asked = { call: call('c1', 'bash', { command: 'ls' }), ask: { id: 'a', at: 1 } };
  assert.equal(line(executing(asked, call('c2'))), 'asks: bash ls +1');
  assert.equal(line(executing(call('c2', 'read'), asked)), 'asks: bash ls +1', 'a person is awaited');
  assert.equal(line(executing({ ...asked, approved: true })), 'bash ls');
  assert.equal(
    line(executing({ call: call('w', 'wait'), wait: { from: null, deadline: 1 } })),
    'wait for a message',
  );
  assert.equal(line(executing()), null);
  assert.equal(line(AT_WORK), 'thinking');
  assert.equal(line({ type: 'idle' }), null);
});

it('a kill raises the epoch and adds a message; messages of a step take the next places', () => {
  const before = agentOf('root', { state: AT_WORK, epoch: 4, last_seq: 7, worker: 'w1' });
  const { state, worker, epoch, last_seq, ended_at } = killedAgent(before, 'you', NOW);
  assert.deepEqual(
    [state, worker, epoch, last_seq, ended_at],
    [{ type: 'killed', by: 'you', deeds: { took_ms: NOW - 1 } }, null, 5, 8, NOW],
  );
  const rows = placed('root', [said('a'), said('b')], 7, NOW);
  assert.deepEqual(
    rows.map(({ agent_id, seq, at }) => [agent_id, seq, at]),
    [
      ['root', 8, NOW],
      ['root', 9, NOW],
    ],
  );
});
