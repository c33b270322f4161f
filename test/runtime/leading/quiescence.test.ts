// Proves that the end of a tree is told without waiting for a poll, and, where one process leads all of it, without asking the ledger; and that nobody
// waits for a runtime that was closed, or for a tree that is not there.
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

it('who waits for a tree learns that the runtime was closed, or that there is no such tree', {
  timeout,
}, async () => {
  const on = await setStage(() => new Promise(() => undefined));
  const root = await on.start();
  await assert.rejects(on.runtime.settled('nobody'), { code: 'E_AGENT_NOT_FOUND' });
  const rejected = assert.rejects(on.runtime.settled(root.id), { code: 'E_CLOSED' });
  await on.close();
  await rejected;
});
