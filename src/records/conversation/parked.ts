import type { AgentState } from '../agent/state.ts';
import { isAsked, isParked } from './parked-call.ts';

/** Of its run time an agent has a quarter, at most this, for its last word. */
const LAST_WORD_MS = 60_000;

export interface RunDeadline {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The run time is used up then; else it is the moment at which the last word is asked for. */
  readonly final: boolean;
}

/** What the clock of the turn looks at next; null: no turn is under way. A run time is a maximum: the last word has its share inside it. */
export function runDeadline(state: AgentState, run_ms: number): RunDeadline | null {
  if (!('turn' in state)) return null;
  const { started_at, grace, late } = state.turn;
  const end = started_at + run_ms;
  if (grace !== null || late !== undefined) return { at: end, final: true };
  return { at: end - Math.min(LAST_WORD_MS, run_ms / 4), final: false };
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
  const end = runDeadline(state, run_ms)?.at ?? null;
  if (state.type === 'awaiting' || state.type === 'cancelling') return end;
  if (state.type !== 'executing' || state.running.length === 0 || !state.running.every(isParked)) return null;
  const deadlines = state.running.flatMap(({ wait }) => wait?.deadline ?? []);
  return Math.min(...deadlines, isAsking(state) || end === null ? Number.POSITIVE_INFINITY : end);
}
