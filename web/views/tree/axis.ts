import type { Timeline } from './lanes.ts';

/** Time axis of the picture, on which periods without activity are folded. */
export interface Axis {
  /** Length of the axis, in milliseconds that are shown. */
  readonly length: number;
  readonly folds: readonly { readonly start: number; readonly end: number }[];
  /** Maps milliseconds since the tree began to a position on the axis. */
  readonly to: (time: number) => number;
  /** Inverse of `to`. */
  readonly from: (place: number) => number;
}

const FOLD_MIN_MS = 5_000;
/** Width of a fold, as a fraction of the time that is shown. */
const FOLD_SHARE = 0.03;

export function axisOf({ lanes, end }: Pick<Timeline, 'lanes' | 'end'>): Axis {
  const quiet = quietOf(lanes, end);
  const worth = quiet.filter((gap) => gap.end - gap.start > Math.max(FOLD_MIN_MS, end * 0.08));
  const shown = end - worth.reduce((sum, gap) => sum + gap.end - gap.start, 0);
  const width = Math.max(1, shown * FOLD_SHARE);
  // Vertices of a piecewise linear map from time to axis.
  const times = [0];
  const places = [0];
  for (const gap of worth) {
    const at = (places.at(-1) as number) + gap.start - (times.at(-1) as number);
    times.push(gap.start, gap.end);
    places.push(at, at + width);
  }
  const length = Math.max(1, (places.at(-1) as number) + end - (times.at(-1) as number));
  times.push(end);
  places.push(length);
  return {
    length,
    folds: worth,
    to: (time) => along(times, places, Math.min(end, Math.max(0, time))),
    from: (place) => along(places, times, Math.min(length, Math.max(0, place))),
  };
}

/** Periods in which no agent did anything. */
function quietOf(lanes: Timeline['lanes'], end: number): { start: number; end: number }[] {
  const busy = lanes
    .flatMap(({ bars }) => bars.filter(({ kind }) => kind !== 'idle'))
    .sort((a, b) => a.start - b.start);
  const quiet: { start: number; end: number }[] = [];
  let until = 0;
  for (const bar of busy) {
    if (bar.start > until) quiet.push({ start: until, end: bar.start });
    until = Math.max(until, Math.min(end, bar.end));
  }
  return quiet;
}

function along(from: readonly number[], to: readonly number[], value: number): number {
  let low = 0;
  let high = from.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((from[middle] as number) <= value) low = middle;
    else high = middle;
  }
  const [a, b] = [from[low] as number, from[high] as number];
  const [c, d] = [to[low] as number, to[high] as number];
  return b === a ? c : c + ((value - a) / (b - a)) * (d - c);
}

/** The part of the axis that is shown. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** Minimum width of a range. */
const RANGE_MIN_MS = 50;

export function zoomed({ from, to }: Range, factor: number, center: number, length: number): Range {
  const width = Math.min(length, Math.max(RANGE_MIN_MS, (to - from) * factor));
  const share = (center - from) / (to - from || 1);
  return shifted({ from: center - share * width, to: center + (1 - share) * width }, 0, length);
}

export function shifted({ from, to }: Range, by: number, length: number): Range {
  const width = Math.min(length, to - from);
  const start = Math.min(Math.max(0, from + by), length - width);
  return { from: start, to: start + width };
}

const STEPS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5,
  72e5, 216e5, 864e5,
];

/** Times that get a label. */
export function ticksOf(axis: Axis, { from, to }: Range, most: number): number[] {
  const step = STEPS.find((one) => (to - from) / one <= most) ?? (to - from) / most;
  const ticks: number[] = [];
  const last = axis.from(to);
  for (let time = Math.ceil(axis.from(from) / step) * step; time <= last; time += step) {
    const fold = axis.folds.find((gap) => time > gap.start && time < gap.end);
    if (fold !== undefined) time = Math.floor(fold.end / step) * step;
    else ticks.push(time);
  }
  return ticks;
}
