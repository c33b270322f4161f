import {
  type AgentState,
  type ChildOutcome,
  type ChildResult,
  type Executing,
  type FanIn,
  isFanIn,
  type SpawnedChild,
} from '../../records/agent/state.ts';
import { fanInRow } from '../../records/conversation/facts/message-facts.ts';
import { appendUser } from './append.ts';
import type { Effect } from './effect.ts';
import type { EventOf } from './event.ts';
import { nextRequest } from './request.ts';
import { invalid, step, type Transition, type TransitionContext } from './transition-result.ts';
import { endStopped } from './turn-end.ts';

/** All calls have settled: the parent parks until its children have reported. */
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

/** Adds a child's outcome to the fan-in (laws 1, 2 and 4). */
export function childResult(
  state: AgentState,
  event: EventOf<'child-result'>,
  context: TransitionContext,
): Transition {
  if (state.type === 'executing') return earlyResult(state, event);
  if (!isFanIn(state)) return invalid(state, event, 'no child is awaited');
  const { agent_id } = event.child;
  // Law 4.
  if (!state.pending.includes(agent_id)) return invalid(state, event, `agent ${agent_id} is not awaited`);
  const pending = state.pending.filter((id) => id !== agent_id);
  const results = [...state.results, event.child];
  if (pending.length > 0) return step({ ...state, pending, results }, []);
  const told = [appendResults(state.spawned, results)];
  if (state.type === 'awaiting') return nextRequest(state.turn, told, context);
  return endStopped(state, told, context);
}

/** A child may report before its parent's calls have settled. */
function earlyResult(state: Executing, event: EventOf<'child-result'>): Transition {
  const { agent_id } = event.child;
  // Law 4.
  if (!state.spawned.some((child) => child.agent_id === agent_id))
    return invalid(state, event, `agent ${agent_id} is not awaited`);
  if (state.early.some((result) => result.agent_id === agent_id))
    return invalid(state, event, `agent ${agent_id} reported already`);
  return step({ ...state, early: [...state.early, event.child] }, []);
}

/** Asks these children to stop. */
export function cancelChildren(pending: readonly string[], reason: string): Effect[] {
  return pending.length === 0 ? [] : [{ type: 'cancel-agents', agent_ids: pending, reason }];
}

/**
 * Continues or ends the turn without the children that have not reported: they are asked to stop, the model gets the results so far,
 * and later reports are rejected (law 4).
 */
export function leaveFanIn(state: Executing | FanIn, reason: string): Effect[] {
  if (state.spawned.length === 0) return [];
  const pending = state.type === 'executing' ? outstanding(state) : state.pending;
  const results = state.type === 'executing' ? state.early : state.results;
  // The children of a cancelling fan-in have been asked to stop before.
  const cancelled = state.type === 'cancelling' ? [] : cancelChildren(pending, reason);
  return [...cancelled, appendResults(state.spawned, results, reason)];
}

/**
 * The results of all children in creation order (docs/vocabularies.md). `missing`: the error of children that are no longer
 * awaited.
 */
export function appendResults(
  spawned: readonly SpawnedChild[],
  results: readonly ChildResult[],
  missing = 'Cancelled',
): Effect {
  const reported = new Map(results.map((result) => [result.agent_id, result]));
  const cancelled: ChildOutcome = { type: 'failure', error: missing, error_kind: 'cancelled' };
  const sub_agent_results = spawned.map(({ agent_id, task }) => ({
    agent_id,
    task,
    outcome: taggedOutcome(reported.get(agent_id)?.outcome ?? cancelled),
    did: reported.get(agent_id)?.did,
  }));
  const open = spawned.filter(({ agent_id }) => !reported.has(agent_id)).length;
  const note = open === 0 ? {} : { note: `${open} of ${spawned.length} sub-agents had not answered` };
  const text = JSON.stringify({ sub_agent_results, ...note });
  return appendUser({ origin: 'system', text, facts: { fan_in: sub_agent_results.map(fanInRow) } });
}

/** For the parent of a child that answered with a text in the end. */
const UNSUBMITTED = 'it ended without submit_result; this is all that it wrote';

/** The outcome in the documented JSON format. */
function taggedOutcome(outcome: ChildOutcome): object {
  if (outcome.type === 'success') {
    const { result, limit, unsubmitted } = outcome;
    const note = unsubmitted === true && limit === undefined ? { note: UNSUBMITTED } : {};
    return { success: { result, ...note, ...(limit === undefined ? {} : { limit }) } };
  }
  const { error, error_kind, partial } = outcome;
  return { failure: { error, error_kind, ...(partial === undefined ? {} : { partial }) } };
}

/** Ids of spawned children that have not reported, in creation order. */
export function outstanding(state: Pick<Executing, 'spawned' | 'early'>): string[] {
  const reported = new Set(state.early.map((result) => result.agent_id));
  return state.spawned.flatMap(({ agent_id }) => (reported.has(agent_id) ? [] : [agent_id]));
}
