import fc from 'fast-check';
import type { AgentEvent } from '../../../src/kernel/transition/event.ts';
import type { Call, ChildOutcome, SpawnedChild } from '../../../src/records/agent/state.ts';
import { answerOf, anyEvent, outcome } from './arbitrary-kernel.ts';
import type { KernelRun } from './kernel-run.ts';

/** A step of a generated run, which becomes an event once the state that it meets is known. */
export type Move =
  | { readonly type: 'any'; readonly event: AgentEvent }
  | { readonly type: 'input' | 'steer' | 'retry' | 'resume' | 'limit' | 'fault' | 'kill' | 'request-failed' }
  | {
      readonly type: 'answer';
      readonly said: string;
      readonly calls: readonly Omit<Call, 'id'>[];
      readonly same_ids: boolean;
      /** Why the model did not end the answer by itself. */
      readonly finish?: 'length' | 'refused' | null;
      /** If set, none of the answer's calls may run. */
      readonly refusal?: string;
    }
  | { readonly type: 'submit'; readonly outcome: ChildOutcome }
  | { readonly type: 'settle'; readonly which: number; readonly bad: boolean; readonly children: number }
  | { readonly type: 'park' | 'delegate' | 'ask' | 'answer-ask' | 'deny-ask'; readonly which: number }
  | { readonly type: 'human-wait' | 'wait-ended' | 'capture' | 'model' | 'leave-out' }
  | { readonly type: 'child'; readonly which: number; readonly outcome: ChildOutcome }
  | { readonly type: 'cancel'; readonly knows: number };

const which = fc.nat({ max: 7 });
const call = fc.record({
  name: fc.constantFrom('bash', 'read'),
  input: fc.constantFrom('{}', '{"a":1}'),
  side_by_side: fc.boolean(),
  idempotent: fc.boolean(),
});

const answer = fc.record({
  type: fc.constant('answer' as const),
  said: fc.constantFrom('', 'I look.'),
  calls: fc.array(call, { maxLength: 4 }),
  same_ids: fc.boolean(),
  finish: fc.constantFrom(null, null, null, 'length' as const, 'refused' as const),
});
const refused = fc
  .record({ answer, refusal: fc.constantFrom('alone, please', 'not so') })
  .map((one) => ({ ...one.answer, refusal: one.refusal }));
const settle = fc.record({
  type: fc.constant('settle' as const),
  which,
  bad: fc.boolean(),
  children: fc.constantFrom(0, 0, 1, 3),
});
const childMove = fc.record({ type: fc.constant('child' as const), which, outcome });

export const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 6, arbitrary: answer },
  { weight: 8, arbitrary: settle },
  { weight: 6, arbitrary: childMove },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constantFrom('input' as const, 'steer' as const, 'retry' as const) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constantFrom('resume' as const, 'limit' as const, 'fault' as const, 'request-failed' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('submit' as const), outcome }) },
  { weight: 2, arbitrary: refused },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('park' as const), which }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('delegate' as const), which }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constantFrom('ask' as const, 'answer-ask' as const, 'deny-ask' as const),
      which,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constantFrom(
        'human-wait' as const,
        'wait-ended' as const,
        'capture' as const,
        'model' as const,
        'leave-out' as const,
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('cancel' as const), knows: fc.nat({ max: 2 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('any' as const),
      event: anyEvent.filter(({ type }) => type !== 'kill'),
    }),
  },
);

/** The event of a move; ids come from the run, sometimes from outside it, so that late, duplicate and unknown ones occur. */
export function eventOf(move: Move, run: KernelRun): AgentEvent {
  const at = run.events.length;
  const { state } = run;
  switch (move.type) {
    case 'any':
      return move.event;
    case 'input':
    case 'steer':
      return { type: move.type, at, content: { origin: 'human', text: `text ${at}` } };
    case 'answer': {
      const calls = move.calls.map((one, place) => ({
        ...one,
        id: move.same_ids ? 'same' : `call-${at}-${place}`,
      }));
      const { refusal } = move;
      const ending = move.finish == null ? {} : { finish: move.finish };
      const content = { ...answerOf(move.said, calls), ...ending };
      const refused = refusal === undefined ? {} : { refusal };
      return { type: 'response', at, seq: at, content, calls, submission: null, ...refused };
    }
    case 'submit': {
      const submit: Call = {
        id: `call-${at}`,
        name: 'submit',
        input: '{}',
        side_by_side: false,
        idempotent: true,
      };
      const content = answerOf('', [submit]);
      return { type: 'response', at, seq: at, content, calls: [submit], submission: move.outcome };
    }
    case 'request-failed':
      return { type: move.type, at, failure: { kind: 'network', error: 'gone', retryable: true } };
    case 'settle':
      return settled(move, run, at);
    case 'park':
      return {
        type: 'call-parked',
        at,
        call_id: pick(runningIds(run), move.which),
        wait: { from: null, deadline: 9 },
      };
    case 'ask': {
      const call_id = pick(runningIds(run), move.which);
      const ask = { id: `ask-${at}`, call_id, root_id: 'r', agent_id: 'a', agent_name: 'a', tool: 'bash' };
      return {
        type: 'call-asked',
        at,
        ask: {
          ...ask,
          subject: 'ls',
          subject_kind: 'command',
          input: '{}',
          difference: null,
          cwd: '/',
          rule: 'ask(bash)',
          asked_at: at,
        },
      };
    }
    case 'answer-ask':
    case 'deny-ask': {
      const open = [...run.open_asks];
      const verdict = move.type === 'answer-ask' ? ('allow' as const) : ('deny' as const);
      return { type: 'ask-answered', at, ask_id: pick(open, move.which), verdict, note: '', by: 'you' };
    }
    case 'human-wait':
      return { type: 'human-wait', at, wait: { from: null, deadline: at + 5 } };
    case 'wait-ended':
      return { type: 'wait-ended', at, output: '{}', waited: { rows: [], cut: null } };
    case 'capture':
      return { type: 'capture', at, content: { text: 'a note' } };
    case 'model':
      return { type: 'model', at, model: 'p/other' };
    case 'leave-out':
      return { type: 'retry', at, left_out: { what: 'a message', asks: at % 2 === 0 } };
    case 'delegate': {
      const call_id = pick(runningIds(run), move.which);
      return { type: 'call-delegated', at, call_id, child: `kid-${at}`, consequences: [] };
    }
    case 'child': {
      const known = [...run.spawned.keys(), ...run.delegated, 'stranger'];
      return {
        type: 'child-result',
        at,
        child: { agent_id: pick(known, move.which), outcome: move.outcome },
      };
    }
    case 'cancel': {
      const open = runningIds(run).slice(0, move.knows);
      const results = open.map((call_id) => ({
        call_id,
        name: 'wait',
        status: 'ok' as const,
        output: 'so far',
      }));
      return { type: 'cancel', at, by: 'you', reason: 'enough', open: results };
    }
    case 'kill':
      return { type: 'kill', at, by: 'you' };
    case 'limit':
      return {
        type: 'limit',
        at,
        limit: `run time in ${state.type}`,
        final: 'turn' in state && state.turn.grace !== null,
      };
    case 'fault':
      return { type: 'fault', at, failure: { kind: 'internal', error: 'a fault', retryable: true } };
    case 'retry':
    case 'resume':
      return { type: move.type, at };
  }
}

function settled(move: Extract<Move, { type: 'settle' }>, run: KernelRun, at: number): AgentEvent {
  const call_id = pick(runningIds(run), move.which);
  const status = move.bad ? ('error' as const) : ('ok' as const);
  const spawned: SpawnedChild[] = Array.from({ length: move.children }, (_, place) => ({
    agent_id: `child-${at}-${place}`,
    task: `task ${place}`,
  }));
  // A child that is named twice counts once.
  if (move.which === 0 && spawned[0] !== undefined) spawned.push(spawned[0]);
  const result = { call_id, name: 'bash', status, output: move.bad ? 'no such file' : 'fine' };
  return { type: 'call-settled', at, result, consequences: [], spawned };
}

function runningIds(run: KernelRun): string[] {
  return run.state.type === 'executing' ? run.state.running.map(({ call }) => call.id) : [];
}

/** One of the ids, or rarely an unknown one. */
function pick(ids: readonly string[], which: number): string {
  return ids[which % (ids.length + (which === 7 ? 1 : 0))] ?? 'nobody';
}
