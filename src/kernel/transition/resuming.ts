import { movedInstants } from '../../records/agent/budget.ts';
import type { Failure } from '../../records/agent/failure.ts';
import type { AgentState, Call, Executing } from '../../records/agent/state.ts';
import { isAsked, isParked } from '../../records/conversation/parked.ts';
import { appendAnswer, startTimer } from './append.ts';
import { countDeath, deadlyReason, forgiveDeaths } from './breakers.ts';
import { schedule, stopCalls, withoutCall } from './calls.ts';
import type { Effect } from './effect.ts';
import type { EventOf } from './event.ts';
import { leaveFanIn } from './fan-in.ts';
import { HUMAN_WAIT } from './human-wait.ts';
import { resumedPause } from './pausing.ts';
import { step, type Transition, type TransitionContext } from './transition-result.ts';
import { endInFailure } from './turn-end.ts';

export const INTERRUPTED =
  'Interrupted: the process that ran this call died. It may have happened in full, in part or not at all, and what it printed is lost. Check before you repeat it.';

/** Continues after a dead process: repeats the request, resumes waits, reruns idempotent calls, and reports other calls as interrupted. */
export function resumed(state: AgentState, event: EventOf<'resume'>, context: TransitionContext): Transition {
  const { deaths = 0, forgiven = false } = event;
  if (state.type === 'requesting') {
    if (state.paused !== undefined) return resumedPause(state, state.paused, event);
    const attempt = state.attempt + 1;
    // An agent program is started again, and asks again.
    const { asked: _, held: __, ...unasked } = state;
    return step({ ...unasked, attempt }, [{ type: 'request-model', attempt }]);
  }
  // Mail and outcomes of children are in the mailbox: nothing to repeat.
  if (state.type === 'waiting') return step(state, [startTimer(HUMAN_WAIT, state.wait)]);
  if (state.type !== 'executing') return step(state, []);
  const live = state.running.filter((one) => !isParked(one)).map(({ call }) => call);
  const turn = forgiven ? forgiveDeaths(state.turn, deaths) : countDeath(state.turn, live, deaths);
  const deadly = deadlyReason(turn);
  if (deadly !== null) return quarantined(state, live, deadly, context);
  // Open questions are dropped: a call that is run again asks again.
  const asking = state.running.some(({ questions }) => questions !== undefined);
  const running = asking ? state.running.map(({ questions: _, ...one }) => one) : state.running;
  const counted: Executing = turn === state.turn && !asking ? state : { ...state, turn, running };
  const effects: Effect[] = [];
  let next = counted;
  for (const one of running) {
    const { call, wait, child } = one;
    // Parked in the ledger: mail ends these waits.
    if (child !== undefined || isAsked(one)) continue;
    if (wait !== undefined) effects.push(startTimer(call.id, wait));
    else if (call.idempotent) effects.push({ type: 'run-call', call });
    else {
      effects.push(appendAnswer(call, 'interrupted', INTERRUPTED));
      next = withoutCall(next, call);
    }
  }
  // Nothing had begun at the cut (docs/time-machine.md).
  const is_due = next !== counted || running.length === 0;
  return is_due ? schedule(next, effects, context) : step(counted, effects);
}

/** Ends the turn and reports running calls as interrupted. A person may retry. */
function quarantined(
  state: Executing,
  live: readonly Call[],
  reason: string,
  context: TransitionContext,
): Transition {
  const error = `quarantined: ${reason}`;
  const failure: Failure = { kind: 'quarantined', error, retryable: true };
  const known = live.map((call) => ({
    call_id: call.id,
    name: call.name,
    status: 'interrupted' as const,
    output: INTERRUPTED,
  }));
  const stopped = [...stopCalls(state, known, error, context), ...leaveFanIn(state, `Cancelled: ${error}`)];
  return endInFailure(failure, stopped, context);
}

/** Moves starts and deadlines with the clock. Timers of waits are set anew: one that rings a little early would otherwise be far behind the clock, and not ring again. */
export function clockMoved(before: AgentState, by_ms: number): Transition {
  const state = movedInstants(before, by_ms);
  if (state.type === 'waiting') return step(state, [startTimer(HUMAN_WAIT, state.wait)]);
  if (!('turn' in state && 'turn' in before)) return step(before, []);
  const { started_at, began_at = started_at } = before.turn;
  const running = state.type === 'executing' ? state.running : [];
  return step(
    { ...state, turn: { ...state.turn, began_at: Math.min(began_at, started_at + by_ms) } },
    running.flatMap(({ call, wait }) => (wait === undefined ? [] : [startTimer(call.id, wait)])),
  );
}
