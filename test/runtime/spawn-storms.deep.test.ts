// Proves that a model that only creates agents, in any vocabulary, gets exactly as many as the limits of its tree admit, while 20 such trees run at once in
// one process. 1,000 trees: STORMS=1000.
import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { isTerminal } from '../../src/records/agent/state.ts';
import { closeOpened } from '../close-opened.ts';
import { setStage } from './stage.ts';
import { CREATION_PATHS, stageOf } from './toolsets/creation-path.ts';

afterEach(closeOpened);

const TREES = Math.ceil(Number(process.env.STORMS ?? 60) / CREATION_PATHS.length);
const AT_ONCE = 20;
const TOTAL = 25;
/** Calls in each message. */
const CALLS = 4;

for (const path of CREATION_PATHS)
  it(`${path.name}: ${TREES} trees, ${AT_ONCE} at once`, async () => {
    let asked = 0;
    const on = await setStage(
      () => {
        asked += 1;
        return Array.from({ length: CALLS }, (_, place) => path.call(asked * CALLS + place));
      },
      stageOf(path, undefined),
    );
    const limits = { total: TOTAL, depth: 6, children: 64, live: 64, turns: 8 };
    let left = TREES;
    const storm = async () => {
      for (; left > 0; ) {
        left -= 1;
        const root = await on.start('go', limits);
        await on.runtime.settled(root.id);
        const agents = await on.store.agents({ root_id: root.id });
        assert.equal(agents.length, TOTAL);
        const tree = await on.store.tree(root.id);
        assert.deepEqual(
          [tree?.total, tree?.live],
          [TOTAL, agents.filter(({ state }) => !isTerminal(state.type)).length],
        );
        assert.ok(agents.every(({ depth }) => depth <= limits.depth));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, storm));
  });
