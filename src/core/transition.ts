import type { Effect } from './effect.ts';
import type { AgentEvent } from './event.ts';
import type { Failure } from './failure.ts';
import type { ResultContent } from './message.ts';
import {
  type AgentState,
  type Call,
  type ChildOutcome,
  isTerminal,
  newTurn,
  type RunningCall,
  type Turn,
} from './state.ts';

/**
 * The kernel: `transition(state, event, context) → { state, effects }`. Pure and total: it throws nothing, reads
 * no clock, makes no ids; what a state does not admit comes back as `InvalidTransition`.
 *
 * Laws kept here (the others are kept by the ledger, `store/store.ts`):
 *  1. Conservation: in a fan-in, pending + results is constant; in a turn, running + queued + results = calls.
 *  2. Monotonicity: pending only shrinks, results only grow.
 *  3. Terminal states admit no event.
 *  4. A result from an unknown agent, or a second one from the same agent, is rejected.
 *  5. Every call of an assistant message gets exactly one result before the next model request.
 * 12. Same state and events, same effects.
 */
export type Transition =
  | { readonly ok: true; readonly state: AgentState; readonly effects: readonly Effect[] }
  | { readonly ok: false; readonly invalid: InvalidTransition };

export interface InvalidTransition {
  readonly state: AgentState['type'];
  readonly event: AgentEvent['type'];
  readonly reason: string;
}

/** What the kernel must know of the agent beside its state. */
export interface TransitionContext {
  /** Its outcome goes to a parent that awaits it: it ends instead of idling (seeds 3 and 5). */
  readonly reports: boolean;
  /** It must call `submit_result` or `submit_error` to end well (seed 3). */
  readonly submits: boolean;
  /** Model requests of one turn. */
  readonly turns: number;
}

/** In this many requests in a row the same call may fail in the same way before the turn ends. */
export const MAX_IDENTICAL_FAILURES = 3;

export function transition(state: AgentState, event: AgentEvent, context: TransitionContext): Transition {
  // Law 3.
  if (isTerminal(state.type)) return invalid(state, event, 'the agent has ended');
  switch (event.type) {
    case 'input':
      if (state.type !== 'idle' && state.type !== 'errored') return invalid(state, event, 'the agent is at work');
      return step(requesting(newTurn(event.at)), [userMessage(event.content), ...request()]);
    case 'steer':
      if (state.type !== 'requesting') return invalid(state, event, 'no request is about to start');
      return step(state, [userMessage(event.content)]);
    case 'response':
      return state.type === 'requesting'
        ? answered(state.turn, event, context)
        : invalid(state, event, 'no request is in flight');
    case 'request-failed':
      if (state.type !== 'requesting') return invalid(state, event, 'no request is in flight');
      return endInFailure(event.failure, event.partial, context, []);
    case 'call-settled':
      return state.type === 'executing' ? settled(state, event, context) : invalid(state, event, 'no call is running');
    case 'call-parked':
      return state.type === 'executing' ? parked(state, event) : invalid(state, event, 'no call is running');
    case 'child-result':
      return childResult(state, event, context);
    case 'cancel':
      return cancelled(state, event, context);
    case 'kill':
      return step({ type: 'killed', by: event.by }, [{ type: 'abort' }]);
    case 'retry':
      if (state.type !== 'errored') return invalid(state, event, 'nothing failed');
      return step(requesting(newTurn(event.at)), [eventMessage('retried', 'tried again'), ...request()]);
    case 'limit':
      return limitReached(state, event, context);
    case 'resume':
      return resumed(state, event, context);
  }
}

type Executing = Extract<AgentState, { type: 'executing' }>;
type Of<T extends AgentEvent['type']> = Extract<AgentEvent, { type: T }>;

function step(state: AgentState, effects: readonly Effect[]): Transition {
  return { ok: true, state, effects };
}

function invalid(state: AgentState, event: AgentEvent, reason: string): Transition {
  return { ok: false, invalid: { state: state.type, event: event.type, reason } };
}

function userMessage(content: Of<'input'>['content']): Effect {
  return { type: 'append', message: { kind: 'user', content } };
}

function systemMessage(text: string): Effect {
  return userMessage({ origin: 'system', text });
}

function resultMessage(content: ResultContent): Effect {
  return { type: 'append', message: { kind: 'result', content } };
}

function eventMessage(event: 'interrupted' | 'error' | 'retried' | 'limit', text: string): Effect {
  return { type: 'append', message: { kind: 'event', content: { event, text } } };
}

function requesting(turn: Turn, attempt = 1): AgentState {
  return { type: 'requesting', attempt, turn };
}

function request(attempt = 1): Effect[] {
  return [{ type: 'request-model', attempt }];
}

/** The model answered: run its calls, end the child, or end the turn. */
function answered(before: Turn, event: Of<'response'>, context: TransitionContext): Transition {
  const turn = { ...before, requests: before.requests + 1 };
  const effects: Effect[] = [{ type: 'append', message: { kind: 'assistant', content: event.content } }];
  if (event.submission !== null) {
    const outcome = event.submission;
    effects.push(
      ...event.calls.map((call) => resultMessage({ call_id: call.id, name: call.name, status: 'ok', output: 'submitted' })),
      { type: 'notify-parent', outcome },
    );
    if (outcome.type === 'success') return step({ type: 'completed', result: outcome.result }, effects);
    return step({ type: 'failed', failure: { kind: outcome.error_kind, error: outcome.error, retryable: false } }, effects);
  }
  if (event.calls.length > 0 && turn.grace) {
    effects.push(
      ...event.calls.map((call) => failedResult(call, 'error', 'The limit was reached: no call was run.')),
    );
    return endTurn(turn, textOf(event), context, effects);
  }
  if (event.calls.length === 0) return endTurn(turn, textOf(event), context, effects);
  const executing: Executing = {
    type: 'executing',
    seq: event.seq,
    running: [],
    queued: event.calls,
    results: [],
    spawned: [],
    early: [],
    turn,
  };
  return schedule(executing, effects, context);
}

function textOf(event: Of<'response'>): string {
  return event.content.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
}

/** The model stopped asking for tools. */
function endTurn(turn: Turn, text: string, context: TransitionContext, effects: Effect[]): Transition {
  if (!context.reports) return step({ type: 'idle' }, effects);
  if (!context.submits && !turn.grace) {
    return step({ type: 'completed', result: text }, [...effects, { type: 'notify-parent', outcome: { type: 'success', result: text } }]);
  }
  if (context.submits && !turn.nudged && !turn.grace) {
    const nudged = { ...turn, nudged: true };
    return step(requesting(nudged), [
      ...effects,
      systemMessage('You stopped without a result. Call submit_result with your result, or submit_error if the task cannot be done.'),
      ...request(),
    ]);
  }
  const failure: Failure = turn.grace
    ? { kind: 'limit', error: 'a limit was reached before the task was done', retryable: false }
    : { kind: 'no_result', error: 'stopped twice without submitting a result', retryable: false };
  return endInFailure(failure, text, context, effects);
}

/** A failure that ends the turn: terminal for an agent that reports, a halt that a person can lift for all others. */
function endInFailure(failure: Failure, partial: string | undefined, context: TransitionContext, effects: Effect[]): Transition {
  effects.push(eventMessage('error', failure.error));
  if (!context.reports) return step({ type: 'errored', failure }, effects);
  const kept = partial === undefined || partial === '' ? {} : { partial };
  effects.push({
    type: 'notify-parent',
    outcome: { type: 'failure', error: failure.error, error_kind: failure.kind, ...kept },
  });
  return step({ type: 'failed', failure, ...kept }, effects);
}

/** Starts queued calls in order: alone, or beside others where all of them allow it; when none is left, goes on. */
function schedule(state: Executing, effects: Effect[], context: TransitionContext): Transition {
  const running: RunningCall[] = [...state.running];
  let next = 0;
  while (next < state.queued.length) {
    const call = state.queued[next] as Call;
    const beside = call.side_by_side && running.every((other) => other.call.side_by_side);
    if (running.length > 0 && !beside) break;
    running.push({ call });
    effects.push({ type: 'run-call', call });
    next += 1;
  }
  if (running.length > 0) return step({ ...state, running, queued: state.queued.slice(next) }, effects);
  if (state.spawned.length > 0) return fanIn(state, effects, context);
  return nextRequest(state.turn, effects, context);
}

/** All calls are answered (law 5): the next request, or the last one if the turn has had its share. */
function nextRequest(turn: Turn, effects: Effect[], context: TransitionContext): Transition {
  if (turn.requests < context.turns) return step(requesting(turn), [...effects, ...request()]);
  return lastRequest(turn, `${context.turns} model requests in one turn`, effects);
}

function lastRequest(turn: Turn, limit: string, effects: Effect[], attempt = 1): Transition {
  const grace = { ...turn, grace: true };
  return step(requesting(grace, attempt), [
    ...effects,
    eventMessage('limit', `limit reached: ${limit}`),
    systemMessage(`Limit reached: ${limit}. Tools are off. Submit what you have now as your answer.`),
    ...request(attempt),
  ]);
}

function settled(state: Executing, event: Of<'call-settled'>, context: TransitionContext): Transition {
  const settledCall = state.running.find((running) => running.call.id === event.result.call_id)?.call;
  if (settledCall === undefined) return invalid(state, event, `call ${event.result.call_id} is not running`);
  const effects: Effect[] = [...event.consequences, resultMessage(event.result)];
  const turn = { ...state.turn, failing: failing(state.turn, settledCall, event.result) };
  const next: Executing = {
    ...state,
    turn,
    running: state.running.filter((running) => running.call.id !== settledCall.id),
    results: [...state.results, settledCall.id],
    spawned: [...state.spawned, ...event.spawned],
  };
  if (turn.failing !== null && turn.failing.times >= MAX_IDENTICAL_FAILURES) return breakTurn(next, effects, event.result, context);
  return schedule(next, effects, context);
}

function failing(turn: Turn, call: Call, result: ResultContent): Turn['failing'] {
  if (result.status !== 'error') return turn.failing?.request === turn.requests ? turn.failing : null;
  const signature = `${call.name}\n${call.input}\n${result.output}`;
  if (turn.failing?.signature !== signature) return { signature, times: 1, request: turn.requests };
  if (turn.failing.request === turn.requests) return turn.failing;
  return { signature, times: turn.failing.times + 1, request: turn.requests };
}

/** The same call failed again and again: answer what is open (law 5) and stop asking the model. */
function breakTurn(state: Executing, effects: Effect[], last: ResultContent, context: TransitionContext): Transition {
  effects.push({ type: 'abort' }, ...cancelOpen(state, [], 'The turn ended: the same call failed again and again.'));
  const failure: Failure = {
    kind: 'repeated_failure',
    error: `${last.name} failed ${MAX_IDENTICAL_FAILURES} times in the same way: ${last.output.slice(0, 300)}`,
    retryable: true,
  };
  if (state.spawned.length > 0) effects.push({ type: 'cancel-agents', agent_ids: outstanding(state), reason: 'the parent failed' });
  return endInFailure(failure, undefined, context, effects);
}

function parked(state: Executing, event: Of<'call-parked'>): Transition {
  if (!state.running.some((running) => running.call.id === event.call_id)) {
    return invalid(state, event, `call ${event.call_id} is not running`);
  }
  const running = state.running.map((one) => (one.call.id === event.call_id ? { ...one, wait: event.wait } : one));
  return step({ ...state, running }, [{ type: 'start-timer', call_id: event.call_id, at: event.wait.deadline }]);
}

function outstanding(state: Executing): string[] {
  return state.spawned.filter((id) => !state.early.some((result) => result.agent_id === id));
}

/** Calls are done, children are not: the parent parks (seed 3). */
function fanIn(state: Executing, effects: Effect[], context: TransitionContext): Transition {
  const pending = outstanding(state);
  if (pending.length === 0) return joined(state.early, state.turn, effects, context);
  return step({ type: 'awaiting', pending, results: state.early, turn: state.turn }, effects);
}

function joined(results: Executing['early'], turn: Turn, effects: Effect[], context: TransitionContext): Transition {
  const text = JSON.stringify({
    sub_agent_results: results.map(({ agent_id, outcome }) => ({
      agent_id,
      outcome:
        outcome.type === 'success'
          ? { success: { result: outcome.result } }
          : { failure: { error: outcome.error, error_kind: outcome.error_kind, ...(outcome.partial === undefined ? {} : { partial: outcome.partial }) } },
    })),
  });
  return nextRequest(turn, [...effects, systemMessage(text)], context);
}

/** Laws 1, 2 and 4 for a fan-in, whatever the state. */
function childResult(state: AgentState, event: Of<'child-result'>, context: TransitionContext): Transition {
  const id = event.child.agent_id;
  if (state.type === 'executing') {
    if (!state.spawned.includes(id)) return invalid(state, event, `agent ${id} is not awaited`);
    if (state.early.some((result) => result.agent_id === id)) return invalid(state, event, `agent ${id} reported already`);
    return step({ ...state, early: [...state.early, event.child] }, []);
  }
  if (state.type !== 'awaiting' && state.type !== 'cancelling') return invalid(state, event, 'no child is awaited');
  if (!state.pending.includes(id)) return invalid(state, event, `agent ${id} is not awaited`);
  const pending = state.pending.filter((other) => other !== id);
  const results = [...state.results, event.child];
  if (pending.length > 0) return step({ ...state, pending, results }, []);
  if (state.type === 'awaiting') return joined(results, state.turn, [], context);
  if (!context.reports) return step({ type: 'idle' }, []);
  return endInFailure({ kind: 'cancelled', error: state.reason, retryable: false }, undefined, context, []);
}

function failedResult(call: Call, status: ResultContent['status'], output: string): Effect {
  return resultMessage({ call_id: call.id, name: call.name, status, output });
}

/** One result for every open call (law 5): what the event brought for it, else plainly cancelled. */
function cancelOpen(state: Executing, open: readonly ResultContent[], output: string): Effect[] {
  const calls = [...state.running.map((running) => running.call), ...state.queued];
  return calls.map((call) => {
    const known = open.find((result) => result.call_id === call.id);
    return known === undefined ? failedResult(call, 'cancelled', output) : resultMessage(known);
  });
}

function cancelled(state: AgentState, event: Of<'cancel'>, context: TransitionContext): Transition {
  const interrupted = eventMessage('interrupted', `interrupted by ${event.by}: ${event.reason}`);
  const failure: Failure = { kind: 'cancelled', error: event.reason, retryable: false };
  const stop = (effects: Effect[]): Transition =>
    context.reports ? endInFailure(failure, undefined, context, effects) : step({ type: 'idle' }, effects);
  switch (state.type) {
    case 'requesting':
      return stop([{ type: 'abort' }, interrupted]);
    case 'executing': {
      const effects: Effect[] = [{ type: 'abort' }, ...cancelOpen(state, event.open, `Cancelled: ${event.reason}`), interrupted];
      const pending = outstanding(state);
      if (pending.length === 0) return stop(effects);
      effects.push({ type: 'cancel-agents', agent_ids: pending, reason: event.reason });
      return step({ type: 'cancelling', pending, results: state.early, reason: event.reason }, effects);
    }
    case 'awaiting':
      return step({ type: 'cancelling', pending: state.pending, results: state.results, reason: event.reason }, [
        interrupted,
        { type: 'cancel-agents', agent_ids: state.pending, reason: event.reason },
      ]);
    default:
      if (context.reports && state.type !== 'cancelling') return stop([interrupted]);
      return invalid(state, event, state.type === 'cancelling' ? 'it is being cancelled already' : 'the agent is not at work');
  }
}

function limitReached(state: AgentState, event: Of<'limit'>, context: TransitionContext): Transition {
  if (state.type === 'requesting') {
    if (state.turn.grace) {
      const failure: Failure = { kind: 'timed_out', error: `limit reached: ${event.limit}`, retryable: true };
      return endInFailure(failure, undefined, context, [{ type: 'abort' }]);
    }
    return lastRequest(state.turn, event.limit, [{ type: 'abort' }], state.attempt + 1);
  }
  if (state.type !== 'executing') return invalid(state, event, 'no turn is running');
  const effects: Effect[] = [{ type: 'abort' }, ...cancelOpen(state, [], `Cancelled: limit reached: ${event.limit}`)];
  const pending = outstanding(state);
  if (pending.length > 0) effects.push({ type: 'cancel-agents', agent_ids: pending, reason: `limit reached: ${event.limit}` });
  return lastRequest(state.turn, event.limit, effects);
}

/** What a dead process left: ask again, wait on, run again what may be, report the rest as interrupted. */
function resumed(state: AgentState, event: Of<'resume'>, context: TransitionContext): Transition {
  if (state.type === 'requesting') {
    const attempt = state.attempt + 1;
    return step({ ...state, attempt }, request(attempt));
  }
  if (state.type !== 'executing') return step(state, []);
  const effects: Effect[] = [];
  let next: Executing = state;
  for (const { call, wait } of state.running) {
    if (wait !== undefined) effects.push({ type: 'start-timer', call_id: call.id, at: wait.deadline });
    else if (call.idempotent) effects.push({ type: 'run-call', call });
    else {
      effects.push(failedResult(call, 'interrupted', INTERRUPTED));
      next = { ...next, running: next.running.filter((one) => one.call.id !== call.id), results: [...next.results, call.id] };
    }
  }
  return next === state ? step(state, effects) : schedule(next, effects, context);
}

export const INTERRUPTED =
  'Interrupted: the process that ran this call died. It may have happened in full, in part or not at all. Check before you repeat it.';
