/** Proves that subscribers of a runtime are told of a kill once, although the ledger's signal reports it to the runtime again. */
import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { humanMail } from '../../../src/runtime/orders/ledger-orders.ts';
import { closeOpened } from '../../close-opened.ts';
import { until } from '../../until.ts';
import { setStage } from '../stage.ts';

afterEach(closeOpened);

it('a kill by a person is reported once, even after its signal has been consumed', async () => {
  const on = await setStage(({ name, step, user }) => {
    if (name === 'kid') return 'kid rests';
    if (user.includes('from elsewhere')) return 'heard';
    return step === 0 ? [['fork', { name: 'kid', prompt: 'rest' }]] : 'main rests';
  });
  await on.perform();
  const kid = await on.agent('kid');
  await on.runtime.kill(kid.id);
  // Signals are read in order: when this letter has been read, so has the signal of the kill.
  const root = await on.store.agent(kid.root_id);
  assert.ok(root);
  await (await on.elsewhere()).send(humanMail(root, 'letter', 'from elsewhere'));
  await until(async () => (await on.store.agent(root.id))?.reply === 'heard', 'the letter is read');
  const told = on.events.filter((event) => event.type === 'killed');
  assert.deepEqual(
    told.map((event) => event.ids),
    [[kid.id]],
  );
});
