// Proves that the chart of a tree's tokens over time counts all of them, each once, in at most 24 bars, however long the tree lives, including tokens that
// arrive later.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, it } from 'node:test';
import fc from 'fast-check';
import { openStore } from '../../../src/store/open-store.ts';
import { TreeActivity } from '../../../src/trees/usage/tree-activity.ts';
import { closeLater, closeOpened } from '../../close-opened.ts';
import { newRoot } from '../../store/ledger-fixture.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

afterEach(closeOpened);

interface Ended {
  readonly tree: number;
  readonly at: number;
  readonly tokens: number;
}

/** A ledger of three trees; `add` inserts an ended request. */
async function openLedger() {
  const file = join(temporaryFolder(), 'ledger.db');
  const store = await openStore(file);
  closeLater(() => store.close());
  const roots = [await newRoot(store), await newRoot(store), await newRoot(store)].map(({ id }) => id);
  const beside = new DatabaseSync(file);
  closeLater(async () => beside.close());
  const insert = beside.prepare(`INSERT INTO requests
    (agent_id, model, input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost_usd, started_at, duration_ms)
    VALUES (?, 'fake/m', ?, 0, 0, 0, NULL, ?, 500)`);
  const add = ({ tree, at, tokens }: Ended) => insert.run(roots[tree] ?? '', tokens, at - 500);
  return { store, roots, add };
}

const BEGIN = Date.UTC(2026, 0, 1);
const ended = fc.record({
  tree: fc.nat(2),
  at: fc.oneof(fc.nat(30_000), fc.nat(400 * 86_400_000)).map((after) => BEGIN + after),
  tokens: fc.nat(1_000),
});

it('every token of every tree is in one of its bars, in order of time', async (t) => {
  let later_ms = 0;
  const now = performance.now.bind(performance);
  t.mock.method(performance, 'now', () => now() + later_ms);
  const { store, roots, add } = await openLedger();
  const activity = new TreeActivity(store);
  const sums = [0, 0, 0];
  await fc.assert(
    fc.asyncProperty(fc.array(ended, { maxLength: 20 }), async (requests) => {
      for (const one of requests) {
        add(one);
        sums[one.tree] = (sums[one.tree] ?? 0) + one.tokens;
      }
      later_ms += 60_000;
      const { complete, trees } = await activity.newest(3);
      assert.equal(complete, true);
      for (const [index, root_id] of roots.entries()) {
        const { tokens } = trees.get(root_id) ?? { tokens: [] };
        assert.ok(tokens.length <= 24, String(tokens.length));
        assert.equal(
          tokens.reduce((sum, used) => sum + used, 0),
          sums[index],
        );
      }
    }),
    { numRuns: 30 },
  );
});

it('a bar holds what ended within it; as the tree lives on, bars become wider', async (t) => {
  let later_ms = 0;
  const now = performance.now.bind(performance);
  t.mock.method(performance, 'now', () => now() + later_ms);
  const { store, roots, add } = await openLedger();
  const activity = new TreeActivity(store);
  const look = async () => {
    later_ms += 60_000;
    return (await activity.newest(1)).trees.get(roots[0] ?? '');
  };
  for (const ms of [0, 50, 300]) add({ tree: 0, at: BEGIN + ms, tokens: 10 });
  assert.deepEqual(await look(), { begins_at: BEGIN, bar_ms: 100, tokens: [20, 0, 0, 10] });
  add({ tree: 0, at: BEGIN + 3_000, tokens: 7 });
  const wider = await look();
  assert.equal(wider?.bar_ms, 200);
  assert.deepEqual(wider?.tokens, [20, 10, ...Array.from({ length: 13 }, () => 0), 7]);
});

it('the last bar that fits is the twenty-fourth', async () => {
  for (const [ms, bar_ms, bars] of [
    [2_399, 100, 24],
    [2_400, 200, 13],
    [4_799, 200, 24],
    [4_800, 400, 13],
  ] as const) {
    const { store, roots, add } = await openLedger();
    for (const after of [0, ms]) add({ tree: 0, at: BEGIN + after, tokens: 1 });
    const made = (await new TreeActivity(store).newest(1)).trees.get(roots[0] ?? '');
    assert.deepEqual([made?.bar_ms, made?.tokens.length], [bar_ms, bars]);
  }
});

it('those in which something happened last are listed, and the last of them at the end', async () => {
  const { store, roots, add } = await openLedger();
  for (const tree of [0, 1, 2, 1]) add({ tree, at: BEGIN, tokens: 1 });
  const { trees } = await new TreeActivity(store).newest(2);
  assert.deepEqual([...trees.keys()], [roots[2], roots[1]]);
});
