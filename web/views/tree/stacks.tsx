import { useEffect, useMemo, useRef } from 'preact/hooks';
import { count, dollars } from '../../data/amounts.ts';
import type { Axis, Range } from './axis.ts';
import type { Bar, Timeline } from './lanes.ts';
import { byStem } from './rows.ts';

const HEIGHT = 140;
const SERIES_MAX = 7;
const SAMPLES = 240;
const COLOURS = ['#2c7a66', '#b0761f', '#7d5ba6', '#4e79a7', '#c25b5d', '#7f9a3c', '#8a7a5c', '#8c8f94'];

interface Series {
  readonly name: string;
  readonly times: readonly number[];
  /** Sum up to each time, inclusive. */
  readonly sums: readonly number[];
}

interface StacksProps {
  readonly timeline: Timeline;
  readonly axis: Axis;
  readonly range: Range;
  readonly what: 'tokens' | 'cost';
  readonly until: number | null;
}

/** Cumulative usage of the agents over time, stacked, on the axis of the lanes. */
export function Stacks({ timeline, axis, range, what, until }: StacksProps) {
  const series = useMemo(() => seriesOf(timeline, what), [timeline, what]);
  const svg = useRef<SVGSVGElement>(null);
  const total = series.reduce((sum, { sums }) => sum + (sums.at(-1) ?? 0), 0);
  const shown = what === 'tokens' ? count : dollars;
  const at = (place: number) => ((place - range.from) / (range.to - range.from)) * SAMPLES;
  useEffect(() => svg.current?.setAttribute('viewBox', `0 0 ${SAMPLES} ${HEIGHT}`), []);
  return (
    <div class="stacks">
      <ul class="stack-names">
        {series.map(({ name, sums }, index) => (
          <li key={name}>
            <span class="swatch" ref={colour(index)} aria-hidden="true" /> {name}{' '}
            <span class="dim">{shown(sums.at(-1) ?? 0)}</span>
          </li>
        ))}
      </ul>
      <svg
        ref={svg}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${what} by agent: ${shown(total)} in all; the table Tree has the numbers`}
      >
        {areas(series, axis, range, total).map((path, index) => (
          <path key={series[index]?.name} d={path} class="area" ref={colour(index)} />
        ))}
        {until !== null && (
          <line class="cursor" x1={at(axis.to(until))} x2={at(axis.to(until))} y1="0" y2={HEIGHT} />
        )}
      </svg>
    </div>
  );
}

function colour(index: number) {
  return (element: HTMLElement | SVGElement | null) =>
    element?.style.setProperty('--series', COLOURS[index] ?? null);
}

/** Series of those that used most, and one for all others. With many agents, those with similar names are one series. */
function seriesOf({ lanes }: Timeline, what: 'tokens' | 'cost'): Series[] {
  const groups =
    lanes.length <= SERIES_MAX + 1
      ? lanes.map((lane) => [lane.about.name, [lane]] as const)
      : [...byStem(lanes)].map(([stem, alike]) =>
          alike.length === 1 ? ([stem, alike] as const) : ([`${stem} × ${alike.length}`, alike] as const),
        );
  const used = groups.map(([name, alike]) => {
    const points = alike.flatMap(({ bars }) => pointsOf(bars, what)).sort((a, b) => a.time - b.time);
    return { name, points, sum: points.reduce((sum, { amount }) => sum + amount, 0) };
  });
  used.sort((a, b) => b.sum - a.sum);
  const rest = used.slice(SERIES_MAX).filter(({ sum }) => sum > 0);
  const others = rest.flatMap(({ points }) => points).sort((a, b) => a.time - b.time);
  const all = [
    ...used.slice(0, SERIES_MAX),
    ...(rest.length === 0 ? [] : [{ name: `${rest.length} others`, points: others }]),
  ];
  return all.map(({ name, points }) => {
    let sum = 0;
    return {
      name,
      times: points.map(({ time }) => time),
      sums: points.map(({ amount }) => {
        sum += amount;
        return sum;
      }),
    };
  });
}

function pointsOf(bars: readonly Bar[], what: 'tokens' | 'cost') {
  return bars.flatMap(({ kind, start, end, input, output, cost_usd }) => {
    const amount = what === 'tokens' ? input + output : cost_usd;
    return kind === 'request' && amount > 0 ? [{ time: end === Infinity ? start : end, amount }] : [];
  });
}

function areas(series: readonly Series[], axis: Axis, range: Range, total: number): string[] {
  const times = Array.from({ length: SAMPLES + 1 }, (_, index) =>
    axis.from(range.from + (index / SAMPLES) * (range.to - range.from)),
  );
  let below = times.map(() => 0);
  return series.map(({ times: known, sums }) => {
    let index = 0;
    const above = times.map((time, sample) => {
      while (index < known.length && (known[index] as number) <= time) index += 1;
      return (below[sample] as number) + (sums[index - 1] ?? 0);
    });
    const y = (value: number) => (HEIGHT - (value / (total || 1)) * (HEIGHT - 8)).toFixed(1);
    const top = above.map((value, sample) => `${sample} ${y(value)}`).join('L');
    const bottom = below
      .map((value, sample) => `${sample} ${y(value)}`)
      .reverse()
      .join('L');
    below = above;
    return `M${top}L${bottom}Z`;
  });
}
