// Proves that a fan-in survives SIGKILL of its process: every result exactly once and in order, beside children that hang, fail and flood.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { killFanout } from './kill-fanout.ts';

it('sixty children by two calls with a command between them, killed up to six times', async (context) => {
  const kills = await killFanout(60, 6, Math.random);
  context.diagnostic(`${kills} kills`);
  assert.ok(kills >= 1, 'the faults must fire');
});
