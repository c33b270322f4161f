/**
 * Proves the laws that the ledger keeps (6–11): random runs of steps, letters, kills and takeovers against the real SQLite store,
 * compared with the small model of `ledger-model.ts`: each verdict, the rows of agents after each command, and everything else after each run.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { openStore } from '../../../src/store/open-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { DEEP } from '../../house/deep.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { type Command, command } from './ledger-command.ts';
import { LedgerRun } from './ledger-run.ts';

const RUNS = DEEP ? 100 : 40;
const LENGTH = 60;

function grow(who: number, count: number): Command {
  return { type: 'commit', steps: [{ type: 'grow', who, count, spawn: false, point: 0 }] };
}

/** Each agent forks one child, past the depth limit, which random runs reach too rarely. The roots are 0 and 1. */
const BELOW_EACH_OTHER: Command[] = [0, 2, 3, 4].map((who) => grow(who, 1));

/** More agents at work at once than a tree allows, with no other limit reached; mail is what they work at. */
const ALL_AT_ONCE: Command[] = [
  grow(0, 3),
  grow(2, 2),
  ...[0, 2, 3, 4, 5, 6].map((to): Command => ({ type: 'human', to })),
  grow(3, 1),
];

/** More agents in all than a tree allows, with no other limit reached. */
const TOO_MANY: Command[] = [
  ...[0, 3, 6].flatMap((first): Command[] => [
    grow(0, 3),
    ...[2, 3, 4].map((place): Command => ({ type: 'commit', steps: [{ type: 'end', who: first + place }] })),
  ]),
  grow(0, 1),
];

/** Two agents wait for each other, one of them with a time limit; repeating that wait closes no new cycle. */
const SAME_AGAIN: Command[] = [
  [0, 3],
  [1, 0],
  [0, 3],
].map(([who = 0, target = 0]) => ({ type: 'commit', steps: [{ type: 'wait', who, targets: [target] }] }));

/** Tries to read the same letter twice. */
const READ_TWICE: Command[] = [
  { type: 'human', to: 0 },
  ...[0, 0].map(
    (letter): Command => ({
      type: 'commit',
      steps: [{ type: 'take', who: 0, letter, foreign: 1 }],
    }),
  ),
];

describe('the laws of the ledger', () => {
  const folder = temporaryFolder();
  let store: Store;
  before(async () => {
    store = await openStore(`sqlite:${join(folder, 'ledger.db')}`);
  });
  after(async () => {
    await store.close();
  });

  it('laws 6, 7, 8, 9, 10 and 11 hold after every command of random runs', async () => {
    const met = new Set<string>();
    await fc.assert(
      fc.asyncProperty(
        fc.array(command, { minLength: 5, maxLength: LENGTH, size: 'max' }),
        async (commands) => {
          // SQLite answers at once: without this, forty runs would be one turn of the event loop, which counts as a blocked thread on a busy machine.
          await new Promise((resolve) => setImmediate(resolve));
          const run = new LedgerRun(store, met);
          await run.createRoot();
          await run.createRoot();
          for (const one of commands) {
            await run.run(one);
            await run.check();
          }
          await run.checkAll();
        },
      ),
      {
        numRuns: RUNS,
        examples: [[BELOW_EACH_OTHER], [ALL_AT_ONCE], [TOO_MANY], [SAME_AGAIN], [READ_TWICE]],
      },
    );
    const limits = ['depth', 'children', 'live', 'total'].map((name) => `limit of ${name}`);
    for (const kind of ['accepted', 'stale', 'recipient', 'consumed', 'cycle', 'target', ...limits])
      assert.ok(met.has(kind), `no step was ${kind}: the runs prove nothing about it`);
  });

  it('law 9: a kill reaches living agents below one that has ended', async () => {
    const run = new LedgerRun(store, new Set());
    await run.createRoot();
    const grow = { type: 'grow' as const, count: 1, spawn: false, point: 0 };
    await run.run({ type: 'commit', steps: [{ ...grow, who: 0 }] });
    await run.run({ type: 'commit', steps: [{ ...grow, who: 1 }] });
    await run.run({ type: 'commit', steps: [{ type: 'end', who: 1 }] });
    await run.check();
    await run.run({ type: 'kill', who: 0 });
    await run.check();
    assert.deepEqual(
      [0, 1, 2].map((index) => run.pick(index).type),
      ['killed', 'completed', 'killed'],
    );
  });
});
