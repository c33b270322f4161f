import type { Bar } from './lanes.ts';

/** Bars of an agent that a list shows as one line: usually one; for repeated calls of a tool, all of them, with the requests between. */
export interface Step {
  readonly from: number;
  /** Index of the last bar, inclusive. */
  readonly to: number;
  readonly calls: number;
}

/** Minimum calls of the same tool in a row that are collapsed. */
const REPEATS_MIN = 3;

/** Steps of an agent, with repeats collapsed, except for the run that contains the chosen bar. */
export function stepsOf(bars: readonly Bar[], chosen: number | null): Step[] {
  const steps: Step[] = [];
  for (let from = 0; from < bars.length; ) {
    const run = runAt(bars, from);
    const is_open = chosen !== null && chosen >= from && chosen <= run.to;
    if (run.calls >= REPEATS_MIN && !is_open) steps.push(run);
    else for (let bar = from; bar <= run.to; bar += 1) steps.push({ from: bar, to: bar, calls: 1 });
    from = run.to + 1;
  }
  return steps;
}

/** Run of successful calls of one tool from that bar on, with nothing but requests between. */
function runAt(bars: readonly Bar[], from: number): Step {
  const first = bars[from] as Bar;
  let [to, calls] = [from, 1];
  if (first.kind !== 'tool' || first.status !== 'ok') return { from, to, calls };
  for (let next = from + 1; next < bars.length; next += 1) {
    const { kind, name, status } = bars[next] as Bar;
    if (status !== 'ok') break;
    if (kind === 'request') continue;
    if (kind !== 'tool' || name !== first.name) break;
    [to, calls] = [next, calls + 1];
  }
  return { from, to, calls };
}
