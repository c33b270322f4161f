import type { AgentState } from './state.ts';

/** Maximum time reserved for the last answer, which otherwise gets the last quarter of the run time. */
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

/** Names of instants from which durations are measured, or at which they end. */
const INSTANTS: ReadonlySet<string> = new Set(['started_at', 'at', 'deadline', 'until']);

/** The same data with these instants moved, so that what is left of each duration stays. The timer of a workflow ends when the clock on the wall says so. */
export function movedInstants<Data>(data: Data, by_ms: number): Data {
  return JSON.parse(JSON.stringify(data), function (this: { readonly runs?: unknown }, name, value) {
    const moves = INSTANTS.has(name) && typeof value === 'number' && this.runs !== true;
    return moves ? value + by_ms : value;
  });
}
