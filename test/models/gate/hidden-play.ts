// Servers of one hidden limit each, on a fake clock, and how near a gate comes to the best possible time.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Gate } from '../../../src/models/gate/gate.ts';
import { Random } from '../../sim/random.ts';
import { FakeTime } from './fake-time.ts';
import { type HiddenLimits, HiddenServer, sendAll } from './hidden-server.ts';

export interface Played {
  readonly server: HiddenServer;
  readonly gates: readonly Gate[];
  readonly took_ms: number;
}

export async function play(
  limits: HiddenLimits,
  count: number,
  { gates: number = 1, change }: { gates?: number; change?: { at: number; to: HiddenLimits } } = {},
): Promise<Played> {
  const time = new FakeTime();
  const random = new Random('gate');
  const server = new HiddenServer(time, limits);
  const gates = Array.from(
    { length: number },
    () => new Gate({ now: () => time.now, random: () => random.next(), sleep: time.sleep }),
  );
  if (change !== undefined)
    void time.sleep(change.at).then(() => {
      server.limits = change.to;
    });
  const all = sendAll(gates, server.model, count, (index) => `tree ${Math.floor(index / number) % 5}`);
  await time.run(all);
  const failed = (await all).filter(({ type }) => type !== 'answer');
  assert.deepEqual(failed, [], 'nothing is given up');
  return { server, gates, took_ms: time.now };
}

/** Share of refused requests after the first third of the time, in which it is learnt. */
export function refusedShare({ server, took_ms }: Played): number {
  const from = took_ms / 3;
  const refused = server.refused.filter((at) => at > from).length;
  return refused / (refused + server.accepted.filter(({ at }) => at > from).length);
}

export const MINUTE = 60_000;
/** One answer of the server: on its way, first token, tokens. */
const ANSWER = 1_340;
/** The best possible time for `count` requests, of which so many fit into each period. */
export const best = {
  bucket: (count: number, each: number, period = MINUTE) => ((count - each) * period) / each + ANSWER,
  window: (count: number, each: number, period = MINUTE) => (Math.ceil(count / each) - 1) * period + ANSWER,
  at_once: (count: number, at_once: number) => Math.ceil(count / at_once) * ANSWER,
};

/** Servers that keep a limit to themselves or tell it, with how many requests they get and the best possible time for these. */
const rows: [what: string, limits: HiddenLimits, count: number, best_ms: number][] = [
  ['10 at once', { at_once: 10 }, 2_000, best.at_once(2_000, 10)],
  ['100 at once', { at_once: 100 }, 10_000, best.at_once(10_000, 100)],
];
for (const tells of ['headers', 'retry-after', 'nothing'] as const) {
  const told = tells === 'nothing' ? 'without a word' : `with ${tells}`;
  for (const form of ['bucket', 'window'] as const) {
    rows.push(
      [
        `600 requests a minute, ${form}, ${told}`,
        { requests: 600, form, tells },
        6_000,
        best[form](6_000, 600),
      ],
      [`60 requests a minute, ${form}, ${told}`, { requests: 60, form, tells }, 1_200, best[form](1_200, 60)],
      [
        `300,000 tokens a minute, ${form}, ${told}`,
        { tokens: 300_000, form, tells },
        4_000,
        best[form](4_000, 300),
      ],
    );
  }
  const all: HiddenLimits = { requests: 600, tokens: 500_000, at_once: 20, tells };
  rows.push([`all three, ${told}`, all, 4_000, best.bucket(4_000, 500)]);
}

/** One of each limit, form and way to tell of it: the others are played by the long tests. */
const QUICK = [
  '10 at once',
  '600 requests a minute, bucket, without a word',
  '60 requests a minute, bucket, with headers',
  '60 requests a minute, window, with retry-after',
  '60 requests a minute, window, without a word',
  '300,000 tokens a minute, bucket, with retry-after',
  '300,000 tokens a minute, window, with headers',
  'all three, with headers',
];

/** Tests of some of the servers, or of all others. */
export function withinTheBest(which: 'quick' | 'others'): void {
  for (const [what, limits, count, best_ms] of rows.filter(
    ([what]) => QUICK.includes(what) === (which === 'quick'),
  ))
    it(`${what}: within 10 % of the best time`, async () => {
      const played = await play(limits, count);
      const ratio = played.took_ms / best_ms;
      assert.ok(ratio <= 1.1, `${ratio.toFixed(2)} times the best`);
      assert.ok(refusedShare(played) <= 0.05, `${(100 * refusedShare(played)).toFixed(1)} % refused`);
    });
}
