import { appendAnswer } from './append.ts';
import { schedule, withoutCall } from './calls.ts';
import type { Effect } from './effect.ts';
import { ask } from './request.ts';
import type { AgentState, Executing } from './state.ts';
import type { TransitionContext } from './transition-context.ts';
import { step, type Transition } from './transition-result.ts';

export const INTERRUPTED =
  'Interrupted: the process that ran this call died. It may have happened in full, in part or not at all. Check before you repeat it.';

/** What a dead process left: ask again, wait on, run again what may be, report the rest as interrupted. */
export function resumed(state: AgentState, context: TransitionContext): Transition {
  if (state.type === 'requesting') return ask(state.turn, [], state.attempt + 1);
  // Outcomes of children and letters lie in the mailbox: nothing to repeat.
  if (state.type !== 'executing') return step(state, []);
  const effects: Effect[] = [];
  let next: Executing = state;
  for (const { call, wait, child } of state.running) {
    // Its child's outcome comes by mail, if it is not there already.
    if (child !== undefined) continue;
    if (wait !== undefined) effects.push({ type: 'start-timer', call_id: call.id, at: wait.deadline });
    else if (call.idempotent) effects.push({ type: 'run-call', call });
    else {
      effects.push(appendAnswer(call, 'interrupted', INTERRUPTED));
      next = withoutCall(next, call);
    }
  }
  return next === state ? step(state, effects) : schedule(next, effects, context);
}
