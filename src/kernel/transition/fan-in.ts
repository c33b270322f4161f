import type {
  AgentState,
  ChildOutcome,
  ChildResult,
  Executing,
  FanIn,
  SpawnedChild,
} from '../../records/agent/state.ts';
import { appendSystem } from './append.ts';
import type { Effect } from './effect.ts';
import type { EventOf } from './event.ts';
import { outstanding } from './outstanding.ts';
import { nextRequest } from './request.ts';
import type { TransitionContext } from './transition-context.ts';
import { invalid, step, type Transition } from './transition-result.ts';
import { endStopped } from './turn-end.ts';

/** The calls are done, the children may not be: the parent parks (seed 3). */
export function beginFanIn(
  state: Executing,
  effects: readonly Effect[],
  context: TransitionContext,
): Transition {
  const { spawned, early, turn } = state;
  const pending = outstanding(state);
  if (pending.length > 0) return step({ type: 'awaiting', pending, results: early, spawned, turn }, effects);
  return nextRequest(turn, [...effects, appendResults(spawned, early)], context);
}

/** Laws 1, 2 and 4 for a fan-in, whatever the state. */
export function childResult(
  state: AgentState,
  event: EventOf<'child-result'>,
  context: TransitionContext,
): Transition {
  if (state.type === 'executing') return earlyResult(state, event);
  if (state.type !== 'awaiting' && state.type !== 'cancelling')
    return invalid(state, event, 'no child is awaited');
  const { agent_id } = event.child;
  // Law 4.
  if (!state.pending.includes(agent_id)) return invalid(state, event, `agent ${agent_id} is not awaited`);
  const pending = state.pending.filter((id) => id !== agent_id);
  const results = [...state.results, event.child];
  if (pending.length > 0) return step({ ...state, pending, results }, []);
  const told = [appendResults(state.spawned, results)];
  if (state.type === 'awaiting') return nextRequest(state.turn, told, context);
  return endStopped(state.reason, told, context);
}

/** A child may be done before its parent's calls are: its result is kept. */
function earlyResult(state: Executing, event: EventOf<'child-result'>): Transition {
  const { agent_id } = event.child;
  // Law 4.
  if (!state.spawned.some((child) => child.agent_id === agent_id))
    return invalid(state, event, `agent ${agent_id} is not awaited`);
  if (state.early.some((result) => result.agent_id === agent_id))
    return invalid(state, event, `agent ${agent_id} reported already`);
  return step({ ...state, early: [...state.early, event.child] }, []);
}

/** Asks the children that have not reported to stop. */
export function cancelChildren(pending: readonly string[], reason: string): Effect[] {
  return pending.length === 0 ? [] : [{ type: 'cancel-agents', agent_ids: pending, reason }];
}

/**
 * The turn goes on, or ends, without the children that have not reported: they are asked to stop, the model learns what is there,
 * and what they may still report is rejected (law 4).
 */
export function leaveFanIn(state: Executing | FanIn, reason: string): Effect[] {
  if (state.spawned.length === 0) return [];
  const pending = state.type === 'executing' ? outstanding(state) : state.pending;
  const results = state.type === 'executing' ? state.early : state.results;
  // Children of a fan-in that is being cancelled have been asked already.
  const cancelled = state.type === 'cancelling' ? [] : cancelChildren(pending, reason);
  return [...cancelled, appendResults(state.spawned, results, reason)];
}

/**
 * What all children brought, in the order of their creation (seed 3, Aggregated Results Format). `missing` is the error shown for
 * those that are not waited for any more.
 */
export function appendResults(
  spawned: readonly SpawnedChild[],
  results: readonly ChildResult[],
  missing = 'Cancelled',
): Effect {
  const outcomes = new Map(results.map((result) => [result.agent_id, result.outcome]));
  const cancelled: ChildOutcome = { type: 'failure', error: missing, error_kind: 'cancelled' };
  const sub_agent_results = spawned.map(({ agent_id, task }) => ({
    agent_id,
    task,
    outcome: taggedOutcome(outcomes.get(agent_id) ?? cancelled),
  }));
  return appendSystem(JSON.stringify({ sub_agent_results }));
}

/** The outcome as seed 3 writes it; beyond the seed: what the result is less than was asked for, and `partial`. */
function taggedOutcome(outcome: ChildOutcome): object {
  if (outcome.type === 'success') {
    const { result, limit, unsubmitted } = outcome;
    const submitted = unsubmitted === true ? { submitted: false } : {};
    return { success: { result, ...submitted, ...(limit === undefined ? {} : { limit }) } };
  }
  const { error, error_kind, partial } = outcome;
  return { failure: { error, error_kind, ...(partial === undefined ? {} : { partial }) } };
}
