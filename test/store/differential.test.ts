// Proves that both databases hold the same ledger: the same random calls, valid and invalid, get the same answers and leave the same rows.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { DEEP } from '../house/deep.ts';
import { compareLedgers } from './two-ledgers.ts';

const STEPS = DEEP ? 600 : 250;
const REFUSALS = ['stale', 'limit', 'recipient', 'consumed', 'cycle', 'target'];

it(`${STEPS} random steps leave the same rows on SQLite and on PostgreSQL`, async () => {
  const { outcomes, looks } = await compareLedgers(4, STEPS);
  assert.ok(looks >= STEPS / 40, `only ${looks} looks`);
  for (const outcome of [
    'step',
    ...REFUSALS.map((reason) => `step: ${reason}`),
    'send',
    'takeBack',
    'kill',
    'claim',
    'fire',
  ])
    assert.ok((outcomes.get(outcome) ?? 0) > 0, `${outcome} never came`);
});
