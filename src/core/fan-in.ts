import type { Effect } from './effect.ts';
import type { AgentState, Turn } from './state.ts';
import {
  type Executing,
  invalid,
  type Of,
  step,
  systemMessage,
  type Transition,
  type TransitionContext,
} from './transition-step.ts';
import { endInFailure, nextRequest } from './turn-end.ts';

export function outstanding(state: Executing): string[] {
  return state.spawned.filter((id) => !state.early.some((result) => result.agent_id === id));
}

/** Calls are done, children are not: the parent parks (seed 3). */
export function fanIn(state: Executing, effects: Effect[], context: TransitionContext): Transition {
  const pending = outstanding(state);
  if (pending.length === 0) return joined(state.early, state.turn, effects, context);
  return step({ type: 'awaiting', pending, results: state.early, turn: state.turn }, effects);
}

function joined(
  results: Executing['early'],
  turn: Turn,
  effects: Effect[],
  context: TransitionContext,
): Transition {
  const text = JSON.stringify({
    sub_agent_results: results.map(({ agent_id, outcome }) => ({
      agent_id,
      outcome:
        outcome.type === 'success'
          ? { success: { result: outcome.result } }
          : {
              failure: {
                error: outcome.error,
                error_kind: outcome.error_kind,
                ...(outcome.partial === undefined ? {} : { partial: outcome.partial }),
              },
            },
    })),
  });
  return nextRequest(turn, [...effects, systemMessage(text)], context);
}

/** Laws 1, 2 and 4 for a fan-in, whatever the state. */
export function childResult(
  state: AgentState,
  event: Of<'child-result'>,
  context: TransitionContext,
): Transition {
  const id = event.child.agent_id;
  if (state.type === 'executing') {
    if (!state.spawned.includes(id)) return invalid(state, event, `agent ${id} is not awaited`);
    if (state.early.some((result) => result.agent_id === id))
      return invalid(state, event, `agent ${id} reported already`);
    return step({ ...state, early: [...state.early, event.child] }, []);
  }
  if (state.type !== 'awaiting' && state.type !== 'cancelling')
    return invalid(state, event, 'no child is awaited');
  if (!state.pending.includes(id)) return invalid(state, event, `agent ${id} is not awaited`);
  const pending = state.pending.filter((other) => other !== id);
  const results = [...state.results, event.child];
  if (pending.length > 0) return step({ ...state, pending, results }, []);
  if (state.type === 'awaiting') return joined(results, state.turn, [], context);
  if (!context.reports) return step({ type: 'idle' }, []);
  return endInFailure({ kind: 'cancelled', error: state.reason, retryable: false }, undefined, context, []);
}
