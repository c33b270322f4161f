/** How much an agent was heard of in each of the last ten spans of time. */
export interface Pulse {
  /** When it was last heard of, milliseconds since the epoch. */
  readonly at: number;
  /** Oldest first; the last cell is the span of `at`. */
  readonly cells: readonly number[];
}

const CELLS = 10;
const SPAN_MS = 3_000;

export const NO_PULSE: Pulse = { at: 0, cells: Array.from({ length: CELLS }, () => 0) };

/** The cells as they are at a later time. */
export function pulseAt({ at, cells }: Pulse, now: number): readonly number[] {
  const passed = Math.max(0, Math.floor(now / SPAN_MS) - Math.floor(at / SPAN_MS));
  if (passed === 0) return cells;
  return [...cells.slice(passed), ...NO_PULSE.cells.slice(0, passed)];
}

/** `amount`: characters of text; anything else counts as some. */
export function withPulse(pulse: Pulse, now: number, amount: number): Pulse {
  const cells = pulseAt(pulse, now);
  return { at: Math.max(now, pulse.at), cells: cells.with(-1, (cells.at(-1) ?? 0) + amount) };
}
