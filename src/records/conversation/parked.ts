import { type AgentState, isFanIn, type RunningCall } from '../agent/state.ts';

/** The call needs an approval that has not been given. */
export function isAsked(
  one: RunningCall,
): one is RunningCall & { readonly ask: NonNullable<RunningCall['ask']> } {
  return one.ask !== undefined && one.approved !== true;
}

/** The call is parked in the ledger; all others in flight run in a process. */
export function isParked(one: RunningCall): boolean {
  return one.wait !== undefined || one.child !== undefined || isAsked(one);
}

/** The last quarter of an agent's run time, at most this long, is reserved for its last answer. */
const LAST_WORD_MS = 60_000;

export interface RunDeadline {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** True: the run time ends. False: the last answer is requested. */
  readonly final: boolean;
}

/** The next deadline of the turn; null without a turn. The run time is a maximum that includes the last answer. */
export function runDeadline(state: AgentState, run_ms: number): RunDeadline | null {
  if (!('turn' in state)) return null;
  const { started_at, grace, late } = state.turn;
  const end = started_at + run_ms;
  if (grace !== null || late !== undefined) return { at: end, final: true };
  return { at: end - Math.min(LAST_WORD_MS, run_ms / 4), final: false };
}

/** An approval is pending; the clock of the turn is stopped. */
export function isAsking(state: AgentState): boolean {
  if (state.type === 'requesting') return state.asked !== undefined;
  return (
    state.type === 'executing' && state.running.some((one) => isAsked(one) || one.questions !== undefined)
  );
}

/**
 * Until when a working agent needs no process because it waits only for mail or a deadline. `Infinity`: until mail arrives; null: there is work to do
 * for it, or it is not working.
 */
export function parkedUntil(state: AgentState, run_ms: number): number | null {
  if (state.type === 'waiting') return state.wait.deadline;
  const end = runDeadline(state, run_ms)?.at ?? null;
  if (isFanIn(state)) return end;
  if (state.type !== 'executing' || state.running.length === 0 || !state.running.every(isParked)) return null;
  const deadlines = state.running.flatMap(({ wait }) => wait?.deadline ?? []);
  return Math.min(...deadlines, isAsking(state) || end === null ? Number.POSITIVE_INFINITY : end);
}
