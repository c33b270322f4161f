import { isAsked, isParked } from './parked-call.ts';
import type { AgentState } from './state.ts';

/** What the last answer after a limit may take. */
const GRACE_MS = 60_000;

/** When the run time of the turn is used up, milliseconds since the epoch; null: no turn is under way. */
export function runDeadline(state: AgentState, run_ms: number): number | null {
  if (!('turn' in state)) return null;
  return state.turn.started_at + run_ms + (state.turn.grace === null ? 0 : GRACE_MS);
}

/** A person is asked; the clock of the turn stands still. */
export function isAsking(state: AgentState): boolean {
  return state.type === 'executing' && state.running.some(isAsked);
}

/**
 * Until when an agent at work needs no process: what it waits for comes by mail, or with time. `Infinity`: until it is written to; null: something is
 * to be done for it, or it is not at work.
 */
export function parkedUntil(state: AgentState, run_ms: number): number | null {
  if (state.type === 'waiting') return state.wait.deadline;
  const end = runDeadline(state, run_ms);
  if (state.type === 'awaiting' || state.type === 'cancelling') return end;
  if (state.type !== 'executing' || state.running.length === 0 || !state.running.every(isParked)) return null;
  const deadlines = state.running.flatMap(({ wait }) => wait?.deadline ?? []);
  return Math.min(...deadlines, isAsking(state) || end === null ? Number.POSITIVE_INFINITY : end);
}
