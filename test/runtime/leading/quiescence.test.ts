// Proves that the end of a tree is told without waiting for a poll, and, where one process leads all of it, without asking the ledger.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type RuntimeClock, SYSTEM_RUNTIME_CLOCK } from '../../../src/runtime/runtime-clock.ts';
import type { Store } from '../../../src/store/store.ts';
import { setStage } from '../stage.ts';

/** Of a test that would hang. */
const timeout = 20_000;
const NEVER_POLLS: RuntimeClock = { ...SYSTEM_RUNTIME_CLOCK, every: () => () => undefined };

it('a tree that comes to rest, or rests already, is told of at once', { timeout }, async () => {
  const on = await setStage(() => 'done', { clock: NEVER_POLLS });
  const { root } = await on.perform();
  assert.equal((await on.runtime.settled(root.id)).reply, 'done');
  await on.close();
});

it('the ledger is not asked about a tree that is led here alone, nor after a take-over', async () => {
  let asked = 0;
  const wrap = (store: Store): Store =>
    Object.assign(Object.create(store) as Store, {
      agents: (...given: Parameters<Store['agents']>) => {
        asked += 1;
        return store.agents(...given);
      },
    });
  const on = await setStage(() => 'done', { wrap });
  const { root } = await on.perform();
  assert.equal(asked, 0);
  const again = await on.reopen();
  await again.runtime.resume(root.id);
  const before = asked;
  await again.runtime.settled(root.id);
  assert.equal(asked, before);
  await again.close();
});
