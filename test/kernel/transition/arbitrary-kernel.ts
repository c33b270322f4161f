import fc from 'fast-check';
import type { AgentEvent } from '../../../src/kernel/transition/event.ts';
import type { TransitionContext } from '../../../src/kernel/transition/transition.ts';
import type { Failure } from '../../../src/records/agent/failure.ts';
import type {
  AgentState,
  Call,
  ChildOutcome,
  ChildResult,
  SpawnedChild,
  Turn,
} from '../../../src/records/agent/state.ts';
import type {
  AssistantContent,
  ResultContent,
  UserContent,
} from '../../../src/records/conversation/message.ts';

/** Arbitrary values of the kernel's types. Ids come from small pools, so that events refer to what the states hold. */
const id = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const agent_id = fc.constantFrom('p', 'q', 'r', 's', 't');
const at = fc.nat({ max: 1_000_000 });
const text = fc.constantFrom('', 'x', 'two words', '漢字 🎋', '{"a":1}', '__proto__');

const failure: fc.Arbitrary<Failure> = fc.record({
  kind: fc.constantFrom('network', 'cancelled', 'limit', 'timed_out', 'internal'),
  error: text,
  retryable: fc.boolean(),
});

export const call: fc.Arbitrary<Call> = fc.record({
  id,
  name: fc.constantFrom('bash', 'read', 'constructor'),
  input: text,
  side_by_side: fc.boolean(),
  idempotent: fc.boolean(),
});

const wait = fc.record({ from: fc.option(fc.array(agent_id, { maxLength: 3 })), deadline: at });
export const running = fc.record({ call, wait, child: agent_id }, { requiredKeys: ['call'] });

export const outcome: fc.Arbitrary<ChildOutcome> = fc.oneof(
  fc.record({ type: fc.constant('success' as const), result: text }),
  fc.record(
    {
      type: fc.constant('failure' as const),
      error: text,
      error_kind: fc.constantFrom('sub_agent_error' as const, 'timed_out' as const, 'cancelled' as const),
      partial: text,
    },
    { requiredKeys: ['type', 'error', 'error_kind'] },
  ),
);

export const child: fc.Arbitrary<ChildResult> = fc.record({ agent_id, outcome });
const spawned: fc.Arbitrary<SpawnedChild> = fc.record({ agent_id, task: text });

const turn: fc.Arbitrary<Turn> = fc.record(
  {
    requests: fc.nat({ max: 5 }),
    failing: fc.array(
      fc.record({ signature: text, times: fc.integer({ min: 1, max: 3 }), request: fc.nat({ max: 5 }) }),
      { maxLength: 2 },
    ),
    grace: fc.option(failure),
    reminded: text,
    unfinished: text,
    late: failure,
    started_at: at,
  },
  { requiredKeys: ['requests', 'failing', 'grace', 'started_at'] },
);

const few = { maxLength: 4 };
const fanIn = {
  pending: fc.array(agent_id, few),
  results: fc.array(child, few),
  spawned: fc.array(spawned, few),
  turn,
};

/** Any state that the types allow, reachable or not. */
export const anyState: fc.Arbitrary<AgentState> = fc.oneof(
  fc.record({ type: fc.constant('idle' as const) }),
  fc.record({ type: fc.constant('requesting' as const), attempt: fc.nat(), turn }),
  fc.record({
    type: fc.constant('executing' as const),
    seq: fc.nat(),
    running: fc.array(running, few),
    queued: fc.array(call, few),
    results: fc.array(id, few),
    spawned: fc.array(spawned, few),
    early: fc.array(child, few),
    turn,
  }),
  fc.record({ type: fc.constant('awaiting' as const), ...fanIn }),
  fc.record({ type: fc.constant('cancelling' as const), reason: text, ...fanIn }),
  fc.record({ type: fc.constant('errored' as const), failure }),
  fc.record({ type: fc.constant('completed' as const), result: text }),
  fc.record(
    { type: fc.constant('failed' as const), failure, partial: text },
    { requiredKeys: ['type', 'failure'] },
  ),
  fc.record({ type: fc.constant('killed' as const), by: text }),
);

export const userContent: fc.Arbitrary<UserContent> = fc.record({
  origin: fc.constantFrom('human', 'mail', 'system', 'identity'),
  text,
});

const status = fc.constantFrom('ok' as const, 'error' as const, 'denied' as const, 'cancelled' as const);
export const result: fc.Arbitrary<ResultContent> = fc.record({
  call_id: id,
  name: text,
  status,
  output: text,
});

/** An answer whose parts match its calls. */
export function answerOf(said: string, calls: readonly Call[]): AssistantContent {
  const parts = calls.map(({ id, name, input }) => ({ type: 'call' as const, id, name, input }));
  return { model: 'test/m', parts: said === '' ? parts : [{ type: 'text', text: said }, ...parts] };
}

const response = fc
  .record(
    {
      at,
      seq: fc.nat(),
      said: text,
      calls: fc.array(call, few),
      submission: fc.option(outcome),
      finish: fc.constantFrom('length' as const, 'refused' as const, 'interrupted' as const),
      refusal: text,
      appendix: text,
    },
    { requiredKeys: ['at', 'seq', 'said', 'calls', 'submission'] },
  )
  .map(({ said, finish, ...rest }) => ({
    type: 'response' as const,
    content: { ...answerOf(said, rest.calls), ...(finish === undefined ? {} : { finish }) },
    ...rest,
  }));

/** Any event, whether or not a state admits it. */
export const anyEvent: fc.Arbitrary<AgentEvent> = fc.oneof(
  fc.record({ type: fc.constantFrom('input' as const, 'steer' as const), at, content: userContent }),
  response,
  fc.record(
    { type: fc.constant('request-failed' as const), at, failure, partial: text, appendix: text },
    { requiredKeys: ['type', 'at', 'failure'] },
  ),
  fc.record({
    type: fc.constant('call-settled' as const),
    at,
    result,
    consequences: fc.constant([]),
    spawned: fc.array(spawned, few),
  }),
  fc.record({ type: fc.constant('call-parked' as const), at, call_id: id, wait }),
  fc.record({
    type: fc.constant('call-delegated' as const),
    at,
    call_id: id,
    child: agent_id,
    consequences: fc.constant([]),
  }),
  fc.record({ type: fc.constant('child-result' as const), at, child }),
  fc.record({
    type: fc.constant('cancel' as const),
    at,
    by: text,
    reason: text,
    open: fc.array(result, few),
  }),
  fc.record({ type: fc.constant('kill' as const), at, by: text }),
  fc.record({ type: fc.constantFrom('retry' as const, 'resume' as const), at }),
  fc.record({
    type: fc.constant('retry' as const),
    at,
    left_out: fc.record({ what: text, asks: fc.boolean() }),
  }),
  fc.record({ type: fc.constant('model' as const), at, model: text }),
  fc.record({ type: fc.constant('limit' as const), at, limit: text, final: fc.boolean() }),
  fc.record({ type: fc.constant('fault' as const), at, failure }),
);

export const context: fc.Arbitrary<TransitionContext> = fc.record({
  reports: fc.boolean(),
  submits: fc.boolean(),
  turns: fc.integer({ min: 1, max: 6 }),
});
