// Proves that a worker that leads as many trees as it may releases no more of those at rest than new ones need, the longest at rest first.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { afterEach, it } from 'node:test';
import { TreeKeeper } from '../../../src/trees/leaders/tree-keeper.ts';
import { closeLater, closeOpened } from '../../close-opened.ts';
import { setStage } from '../../runtime/stage.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';

afterEach(closeOpened);

const NONE = { allow: [], ask: [], deny: [] };

it('makes room for one tree by releasing one', async () => {
  const { store, runtime } = await setStage(() => 'done', {
    database: `sqlite:${join(temporaryFolder(), 'ledger.db')}`,
  });
  const keeper = new TreeKeeper({
    ...{ store, runtime, most: 3, idle_ms: 3_600_000 },
    onEnded: () => undefined,
    onTrouble: (error) => {
      throw error;
    },
  });
  closeLater(() => keeper.stop());
  keeper.wake();
  const permissions = { cli: NONE, config: NONE };
  const config = { model: 'play/actor', thinking: 'off', system: '', toolsets: [], tools: [] } as const;
  const ids: string[] = [];
  const next = async () => {
    const id = await runtime.enter(
      { prompt: 'go', config: { ...config, cwd: process.cwd(), permissions } },
      [],
    );
    ids.push(id);
    keeper.wake();
    const isDone = async () => {
      const agent = await store.agent(id);
      return agent?.state.type === 'idle' && agent.reply === 'done';
    };
    await until(isDone, `tree ${ids.length} is led and at rest`);
  };
  for (let count = 1; count <= 5; count += 1) await next();
  const led = await Promise.all(ids.map(async (id) => (await store.agent(id))?.worker === runtime.worker_id));
  assert.deepEqual(led, [false, false, true, true, true]);
  assert.equal(keeper.led, 3);
});
