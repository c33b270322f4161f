import { Gate } from '../../../src/models/gate/gate.ts';
import { Random } from '../../sim/random.ts';
import { ask } from '../protocols.ts';
import { FakeTime } from './fake-time.ts';
import { HiddenServer, WAY_MS } from './hidden-server.ts';
import type { Shape } from './shapes.ts';

export interface Measured {
  /** Time as a multiple of the best possible. */
  readonly ratio: number;
  /** Share of refused requests after the first third of the time, in which the limit is learnt, and in all. */
  readonly refused: number;
  readonly all_refused: number;
  /** Requests that were given up. */
  readonly failed: number;
  /** The last answer of the tree that was ready first, as a share of the time. */
  readonly fair: number;
  readonly learnt: string;
}

export interface Sweep {
  readonly all: readonly Measured[];
  readonly bad: number;
  /** The mean time and share of refused requests. */
  readonly ratio: number;
  readonly refused: number;
  readonly summary: string;
}

/** A run is bad if it takes more than 1.10 of the best time, if more than 5 % are refused after learning, or if anything is given up. */
function isBad({ ratio, refused, failed }: Measured): boolean {
  return ratio > 1.1 || refused > 0.05 || failed > 0;
}

/** Plays all shapes, each with so many seeds. `done`: called after each shape. */
export async function sweep(
  shapes: readonly Shape[],
  seeds: number,
  done: (shape: Shape, runs: readonly Measured[]) => void,
): Promise<Sweep> {
  const all: Measured[] = [];
  for (const shape of shapes) {
    const runs: Measured[] = [];
    for (let seed = 0; seed < seeds; seed += 1) runs.push(await play(shape, `seed ${seed}`));
    all.push(...runs);
    done(shape, runs);
  }
  const bad = all.filter(isBad).length;
  const ratio = mean(all, (one) => one.ratio);
  const refused = mean(all, (one) => one.refused);
  const summary = `${bad} of ${all.length} runs over 1.10 of the best time or 5 % refused; mean ${ratio.toFixed(3)}, ${percent(refused)} refused`;
  return { all, bad, ratio, refused, summary };
}

/** One line: mean and worst time, mean and worst share of refused requests after learning, what the first gate has learnt. */
export function told({ name }: Shape, runs: readonly Measured[]): string {
  const worst = (of: (one: Measured) => number) => Math.max(...runs.map(of));
  const cells = [
    mean(runs, ({ ratio }) => ratio)
      .toFixed(2)
      .padStart(5),
    worst(({ ratio }) => ratio)
      .toFixed(2)
      .padStart(5),
    percent(mean(runs, ({ refused }) => refused)).padStart(7),
    percent(worst(({ refused }) => refused)).padStart(6),
  ];
  const failed = worst((one) => one.failed);
  const last = `${runs[0]?.learnt}${failed > 0 ? `, ${failed} given up` : ''}`;
  return `${runs.some(isBad) ? '✗' : ' '} ${name.padEnd(50)} ${cells.join('  ')}  ${last}`;
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
const mean = (all: readonly Measured[], of: (one: Measured) => number): number =>
  all.reduce((sum, one) => sum + of(one), 0) / all.length;

/** Trees that take turns. */
const TREES = 5;
const PERIOD_MS = 60_000;

/** Sends all requests of a shape, on a fake clock, and measures. The phase of windows, times and tokens vary with the seed. */
export async function play(shape: Shape, seed: string): Promise<Measured> {
  const time = new FakeTime();
  const random = new Random(`${shape.name} ${seed}`);
  const { gates: number = 1, apart_ms = 0, count, agents = count, change } = shape;
  const { period_ms = PERIOD_MS, form } = shape.limits;
  const phase_ms = form === 'window' ? random.next() * period_ms : 0;
  const server = new HiddenServer(time, { ...shape.limits, phase_ms }, { ...shape.answers, seed });
  const gates = Array.from(
    { length: number },
    () => new Gate({ now: () => time.now, random: () => random.next(), sleep: time.sleep }),
  );
  if (change !== undefined)
    void time.sleep(change.at).then(() => {
      server.limits = { ...change.to, phase_ms };
    });
  let [failed, left] = [0, count];
  const all = Promise.all(
    Array.from({ length: agents }, async (_, index) => {
      if (apart_ms > 0) await time.sleep(apart_ms * (index % number));
      const cache_key = `tree ${Math.floor(index / number) % TREES}`;
      const gate = gates[index % number] as Gate;
      while (left > 0) {
        left -= 1;
        const outcome = await gate.stream(server.model, { ...ask(), cache_key }, () => undefined);
        if (outcome.type !== 'answer') failed += 1;
      }
    }),
  );
  await time.run(all);
  const late = { at: time.now / 3 };
  const refused = server.refused.filter((at) => at > late.at).length;
  const accepted = server.accepted.filter(({ at }) => at > late.at).length;
  const lasts = [...Map.groupBy(server.accepted, ({ tree }) => tree).values()].map(
    (all) => all.at(-1)?.at ?? 0,
  );
  return {
    ratio: time.now / bestTime(shape, server, phase_ms),
    refused: refused / (refused + accepted),
    all_refused: server.refused.length / (server.refused.length + server.accepted.length),
    failed,
    fair: Math.min(...lasts) / Math.max(...lasts),
    learnt: (gates[0] as Gate).learnt,
  };
}

/** The best possible time with what the server has accepted: that of the tightest of its limits. */
function bestTime(
  { limits, change, answers, count, agents = count }: Shape,
  server: HiddenServer,
  phase_ms: number,
): number {
  const { first_token_ms = 300, answer_ms = 1_000, tokens_each = 1_000 } = answers;
  const { period_ms = PERIOD_MS, form = 'bucket', burst } = limits;
  const one = 2 * WAY_MS + first_token_ms + answer_ms;
  /** When the last of so many is accepted, of which `each` fit into a period. */
  const rate = (used: number, each: number, later = each): number => {
    const at = change?.at ?? 0;
    if (form === 'sliding') return (Math.ceil(used / each) - 1) * period_ms;
    if (form === 'window') {
      const before = change === undefined ? 1 : Math.floor((at + phase_ms) / period_ms) + 1;
      const windows = before + Math.ceil((used - before * each) / later);
      return (windows - 1) * period_ms - (windows > 1 ? phase_ms : 0);
    }
    return at + ((used - Math.min(burst ?? each, each) - (at * each) / period_ms) * period_ms) / later;
  };
  const { requests, tokens, at_once } = limits;
  const units = server.tokens / tokens_each;
  return Math.max(
    at_once === undefined ? 0 : (server.work_ms + count * 2 * WAY_MS) / at_once,
    requests === undefined ? 0 : rate(count, requests, change?.to.requests) + one,
    tokens === undefined ? 0 : rate(units, tokens / tokens_each) + one,
    (server.work_ms + count * 2 * WAY_MS) / agents,
  );
}
