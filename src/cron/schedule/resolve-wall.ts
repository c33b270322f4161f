import { offsetAt, offsetChange } from './zone-offset.ts';

/** Farther than any zone is from UTC, and nearer than two changes of one zone are to each other. */
const DAY = 86_400_000;

/** What a time on the wall means as an instant. */
export type ResolvedWall =
  | { readonly type: 'once'; readonly at: number }
  /** The clock was set back over it. */
  | { readonly type: 'twice'; readonly at: number; readonly again: number }
  /** The clock was set forward over it; `at` is the first moment after the gap. */
  | { readonly type: 'gap'; readonly at: number };

/** `wall`: the fields of the wall clock as if they were UTC, milliseconds. Larger walls never give an earlier `at`. */
export function resolveWall(tz: string, wall: number): ResolvedWall {
  const before = offsetAt(tz, wall - DAY);
  const after = offsetAt(tz, wall + DAY);
  if (before === after) return { type: 'once', at: wall - before };
  const [at, again] = [wall - before, wall - after].filter((one) => one + offsetAt(tz, one) === wall);
  if (at === undefined) return { type: 'gap', at: offsetChange(tz, wall - after, wall - before) };
  return again === undefined ? { type: 'once', at } : { type: 'twice', at, again };
}
