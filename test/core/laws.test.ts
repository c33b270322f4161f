// Proves laws 1 to 5 and 12 of the kernel on arbitrary sequences of events, and that no event in any state makes it throw.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { AgentEvent } from '../../src/core/event.ts';
import type { Message } from '../../src/core/message.ts';
import { type AgentState, type Call, isTerminal, newTurn } from '../../src/core/state.ts';
import { transition } from '../../src/core/transition.ts';
import type { TransitionContext } from '../../src/core/transition-step.ts';

const CONTEXTS: readonly TransitionContext[] = [
  { reports: false, submits: false, turns: 5 },
  { reports: true, submits: true, turns: 5 },
  { reports: true, submits: false, turns: 2 },
];
const CHILDREN = ['child-1', 'child-2', 'child-3', 'child-4'];

/** What a generated command picks from whatever the state offers; indexes are taken modulo. */
interface Command {
  readonly type: AgentEvent['type'] | 'settle-spawn' | 'unknown-call' | 'unknown-child';
  readonly pick: number;
  readonly calls: readonly boolean[];
  readonly failing: boolean;
  readonly submit: number;
}

const command: fc.Arbitrary<Command> = fc.record({
  type: fc.constantFrom(
    'input',
    'steer',
    'response',
    'response',
    'response',
    'request-failed',
    'call-settled',
    'call-settled',
    'call-settled',
    'settle-spawn',
    'settle-spawn',
    'call-parked',
    'child-result',
    'child-result',
    'cancel',
    'kill',
    'retry',
    'limit',
    'resume',
    'unknown-call',
    'unknown-child',
  ),
  pick: fc.nat(20),
  calls: fc.array(fc.boolean(), { maxLength: 5 }),
  failing: fc.boolean(),
  submit: fc.nat(30),
});

let serial = 0;
/** Which states the generated runs have been in: a run that goes nowhere proves nothing. */
const reached = new Set<string>();

/** Turns a command into an event that fits the state as often as possible, and sometimes does not. */
function eventOf(command: Command, state: AgentState): AgentEvent {
  const at = 1;
  const running = state.type === 'executing' ? state.running : [];
  const call_id = running[command.pick % Math.max(1, running.length)]?.call.id ?? 'none';
  const settled = (id: string, spawned: readonly string[]): AgentEvent => ({
    type: 'call-settled',
    at,
    result: {
      call_id: id,
      name: 'tool',
      status: command.failing ? 'error' : 'ok',
      output: command.failing ? 'bad' : 'good',
    },
    consequences: [],
    spawned,
  });
  switch (command.type) {
    case 'input':
    case 'steer':
      return { type: command.type, at, content: { origin: 'human', text: 'hi' } };
    case 'response': {
      const calls = command.calls.map((side_by_side): Call => {
        serial += 1;
        return { id: `call-${serial}`, name: 'tool', input: '{}', side_by_side, idempotent: command.failing };
      });
      const submission =
        command.submit > 2
          ? null
          : command.submit === 0
            ? ({ type: 'success', result: 'r' } as const)
            : ({ type: 'failure', error: 'e', error_kind: 'sub_agent_error' } as const);
      const parts = calls.map(({ id, name, input }) => ({ type: 'call' as const, id, name, input }));
      return { type: 'response', at, seq: 1, content: { model: 'm', parts }, calls, submission };
    }
    case 'request-failed':
      return { type: 'request-failed', at, failure: { kind: 'network', error: 'x', retryable: true } };
    case 'call-settled':
      return settled(call_id, []);
    case 'settle-spawn': {
      const known = state.type === 'executing' ? state.spawned : [];
      return settled(call_id, CHILDREN.filter((id) => !known.includes(id)).slice(0, 1 + (command.pick % 2)));
    }
    case 'unknown-call':
      return settled('nobody-made-this-call', []);
    case 'call-parked':
      return { type: 'call-parked', at, call_id, wait: { from: ['x'], deadline: 5 } };
    case 'child-result':
    case 'unknown-child': {
      const pending =
        state.type === 'awaiting' || state.type === 'cancelling'
          ? state.pending
          : state.type === 'executing'
            ? state.spawned
            : CHILDREN;
      const agent_id =
        command.type === 'unknown-child'
          ? 'stranger'
          : (pending[command.pick % Math.max(1, pending.length)] ?? 'none');
      return { type: 'child-result', at, child: { agent_id, outcome: { type: 'success', result: 'r' } } };
    }
    case 'cancel':
      return { type: 'cancel', at, by: 'you', reason: 'enough', open: [] };
    case 'kill':
      return { type: 'kill', at, by: 'you' };
    case 'retry':
      return { type: 'retry', at };
    case 'limit':
      return { type: 'limit', at, limit: 'time' };
    case 'resume':
      return { type: 'resume', at };
  }
}

/** Law 5: before a request to the model, every call of every assistant message has exactly one result. */
function checkAnswered(log: readonly Message[]): void {
  const asked = log.flatMap((message) =>
    message.kind === 'assistant'
      ? message.content.parts.flatMap((part) => (part.type === 'call' ? [part.id] : []))
      : [],
  );
  const answered = log.flatMap((message) => (message.kind === 'result' ? [message.content.call_id] : []));
  assert.deepEqual(answered.toSorted(), asked.toSorted());
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}

function run(commands: readonly Command[], context: TransitionContext): void {
  let state: AgentState = { type: 'requesting', attempt: 1, turn: newTurn(0) };
  const log: Message[] = [];
  for (const one of commands) {
    const event: AgentEvent = deepFreeze(eventOf(one, state));
    deepFreeze(state);
    const first = transition(state, event, context);
    assert.deepEqual(transition(state, event, context), first, 'law 12: same state and event, same effects');
    if (isTerminal(state.type)) assert.equal(first.ok, false, 'law 3: terminal states admit no event');
    if (!first.ok) continue;
    const next = first.state;
    for (const effect of first.effects) if (effect.type === 'append') log.push(effect.message);
    if (first.effects.some((effect) => effect.type === 'request-model')) checkAnswered(log);
    if (next.type === 'idle' || next.type === 'errored') checkAnswered(log);
    if (next.type === 'executing') {
      const asked = log.findLast((message) => message.kind === 'assistant');
      const calls =
        asked?.kind === 'assistant' ? asked.content.parts.filter((part) => part.type === 'call').length : 0;
      assert.equal(
        next.running.length + next.queued.length + next.results.length,
        calls,
        'law 1: calls are conserved',
      );
      if (next.running.length > 1)
        assert.ok(
          next.running.every((running) => running.call.side_by_side),
          'only such calls run side by side',
        );
    }
    if (
      (state.type === 'awaiting' || state.type === 'cancelling') &&
      (next.type === 'awaiting' || next.type === 'cancelling')
    ) {
      assert.equal(
        next.pending.length + next.results.length,
        state.pending.length + state.results.length,
        'law 1: the fan-in is conserved',
      );
      assert.ok(
        next.pending.length <= state.pending.length && next.results.length >= state.results.length,
        'law 2',
      );
      const before = state.pending;
      assert.ok(
        next.pending.every((id) => before.includes(id)),
        'law 2: nothing becomes pending again',
      );
    }
    if (next.type === 'awaiting' || next.type === 'cancelling') {
      const ids = next.results.map((result) => result.agent_id);
      assert.equal(new Set(ids).size, ids.length, 'law 4: nobody reports twice');
    }
    reached.add(next.type);
    state = next;
  }
}

describe('laws of the kernel', () => {
  for (const [index, context] of CONTEXTS.entries()) {
    it(`laws 1, 2, 3, 4, 5 and 12 hold on arbitrary sequences of events (context ${index})`, () => {
      fc.assert(
        fc.property(fc.array(command, { maxLength: 60 }), (commands) => run(commands, context)),
        { numRuns: 1500 },
      );
    });
  }

  it('the generated runs have been in every state', () => {
    assert.deepEqual([...reached].sort(), [
      'awaiting',
      'cancelling',
      'completed',
      'errored',
      'executing',
      'failed',
      'idle',
      'killed',
      'requesting',
    ]);
  });

  it('law 4: a result from a stranger, and a second one, are refused in every state of a fan-in', () => {
    const state: AgentState = {
      type: 'awaiting',
      pending: ['a'],
      results: [{ agent_id: 'b', outcome: { type: 'success', result: 'r' } }],
      turn: newTurn(0),
    };
    const context = CONTEXTS[0] as TransitionContext;
    for (const agent_id of ['stranger', 'b']) {
      const event: AgentEvent = {
        type: 'child-result',
        at: 1,
        child: { agent_id, outcome: { type: 'success', result: 'again' } },
      };
      assert.equal(transition(state, event, context).ok, false);
      const cancelling: AgentState = {
        type: 'cancelling',
        pending: ['a'],
        results: state.results,
        reason: 'x',
      };
      assert.equal(transition(cancelling, event, context).ok, false);
    }
  });

  for (const size of [1, 1000]) {
    it(`a fan-in of ${size}: the last result, and only the last, asks the model again`, () => {
      const pending = Array.from({ length: size }, (_, index) => `c${index}`);
      let state: AgentState = { type: 'awaiting', pending, results: [], turn: newTurn(0) };
      const context = CONTEXTS[0] as TransitionContext;
      for (const [index, agent_id] of pending.entries()) {
        const result = transition(
          state,
          {
            type: 'child-result',
            at: 1,
            child: { agent_id, outcome: { type: 'success', result: String(index) } },
          },
          context,
        );
        assert.ok(result.ok);
        const asks = result.effects.filter((effect) => effect.type === 'request-model').length;
        assert.equal(asks, index === size - 1 ? 1 : 0);
        state = result.state;
      }
      assert.equal(state.type, 'requesting');
    });
  }

  it('a fan-in of none goes on at once', () => {
    const context = CONTEXTS[0] as TransitionContext;
    const call: Call = { id: '1', name: 'spawn_agents', input: '{}', side_by_side: true, idempotent: true };
    const state: AgentState = {
      type: 'executing',
      seq: 1,
      running: [{ call }],
      queued: [],
      results: [],
      spawned: [],
      early: [],
      turn: newTurn(0),
    };
    const result = transition(
      state,
      {
        type: 'call-settled',
        at: 1,
        result: { call_id: '1', name: 'spawn_agents', status: 'ok', output: '' },
        consequences: [],
        spawned: [],
      },
      context,
    );
    assert.ok(result.ok && result.state.type === 'requesting');
  });

  it('a kill ends an agent in every state that is not terminal', () => {
    const turn = newTurn(0);
    const states: AgentState[] = [
      { type: 'idle' },
      { type: 'requesting', attempt: 1, turn },
      { type: 'executing', seq: 1, running: [], queued: [], results: [], spawned: [], early: [], turn },
      { type: 'awaiting', pending: ['a'], results: [], turn },
      { type: 'cancelling', pending: ['a'], results: [], reason: 'x' },
      { type: 'errored', failure: { kind: 'network', error: 'x', retryable: true } },
    ];
    for (const state of states) {
      const result = transition(state, { type: 'kill', at: 1, by: 'you' }, CONTEXTS[0] as TransitionContext);
      assert.ok(result.ok && result.state.type === 'killed');
    }
  });
});
