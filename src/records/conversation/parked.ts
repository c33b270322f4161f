import { runDeadline } from '../agent/run-deadline.ts';
import { type AgentState, isFanIn, type RunningCall } from '../agent/state.ts';

/** Whether the call needs an approval that has not been given. */
export function isAsked(
  one: RunningCall,
): one is RunningCall & { readonly ask: NonNullable<RunningCall['ask']> } {
  return one.ask !== undefined && one.approved !== true;
}

/** Whether the call is parked in the ledger; all other calls in flight run in a process. */
export function isParked(one: RunningCall): boolean {
  return one.wait !== undefined || one.child !== undefined || isAsked(one);
}

/** Ids of the pending approvals and questions. */
export function openAsks(state: AgentState): readonly string[] {
  if (state.type === 'requesting') return (state.asked ?? []).map(({ id }) => id);
  if (state.type !== 'executing') return [];
  return state.running.flatMap((one) => [
    ...(isAsked(one) ? [one.ask.id] : []),
    ...(one.questions ?? []).map(({ id }) => id),
  ]);
}

/** Whether an approval or a question is pending, so that the clock of the turn is stopped. */
export function isAsking(state: AgentState): boolean {
  return openAsks(state).length > 0;
}

/**
 * Returns until when a working agent needs no process, because it waits only for mail or a deadline. `Infinity`: until mail arrives. Null: it needs a
 * process, or it is not working.
 */
export function parkedUntil(state: AgentState, run_ms: number): number | null {
  if (state.type === 'waiting') return state.wait.deadline;
  const end = runDeadline(state, run_ms)?.at ?? null;
  if (isFanIn(state)) return end;
  if (state.type !== 'executing' || state.running.length === 0 || !state.running.every(isParked)) return null;
  const deadlines = state.running.flatMap(({ wait }) => wait?.deadline ?? []);
  return Math.min(...deadlines, isAsking(state) || end === null ? Number.POSITIVE_INFINITY : end);
}
