// Proves that a person's orders are refused alike with and without a runtime: an empty message, an agent that is not there, and one that has ended.
import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { ledgerOrders } from '../../../src/runtime/orders/ledger-orders.ts';
import { closeOpened } from '../../close-opened.ts';
import { setStage } from '../stage.ts';

afterEach(closeOpened);

for (const where of ['a runtime', 'the ledger alone'])
  it(`orders by ${where} are refused for the same reasons`, async () => {
    const on = await setStage(() => 'done');
    const { root } = await on.perform();
    const orders = where === 'a runtime' ? on.runtime : ledgerOrders(on.store, {});
    const nobody = '00000000-0000-4000-8000-000000000000';
    await assert.rejects(orders.send(root.id, ' \n'), { code: 'E_INVALID_ARGUMENT' });
    await assert.rejects(orders.send(nobody, 'hello'), { code: 'E_AGENT_NOT_FOUND' });
    await assert.rejects(orders.kill(nobody), { code: 'E_AGENT_NOT_FOUND' });
    await assert.rejects(orders.compact(nobody), { code: 'E_AGENT_NOT_FOUND' });
    assert.deepEqual(await orders.kill(root.id), [root.id]);
    await assert.rejects(orders.send(root.id, 'hello'), {
      code: 'E_AGENT_DEAD',
      message: 'main has ended and cannot receive mail',
    });
  });
