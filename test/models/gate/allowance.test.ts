// Proves what may be sent under a limit that a provider states: bit by bit, or all of it once a window is over, whatever a late answer says of the one before.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Allowance } from '../../../src/models/gate/pacing.ts';
import type { ToldLimit } from '../../../src/models/gate/rate-headers.ts';

const told = (remaining: number, reset_ms: number | null): ToldLimit => ({
  ...{ kind: 'requests', limit: 100, remaining, reset_ms, is_coarse: true },
});

function toldAt0(limit: ToldLimit): Allowance {
  const allowance = new Allowance(limit);
  allowance.tell(limit, 0, 0);
  return allowance;
}

it('a limit that comes back bit by bit is spent and filled at that rate, up to its size', () => {
  const allowance = toldAt0(told(50, 30_000));
  assert.equal(allowance.wait(50, 0), 0);
  allowance.take(50, 0);
  assert.equal(Math.round(allowance.wait(1, 0)), 600);
  assert.equal(allowance.wait(1, 601), 0);
  assert.equal(allowance.wait(100, 1e9), 0);
  assert.equal(allowance.wait(1_000, 1e9), 0, 'a full one is enough for anything');
});

it('in a window all of it comes back at its end, and an answer of the window before takes nothing of it', () => {
  const allowance = toldAt0(told(90, 60_000));
  allowance.tell(told(10, 59_000), 0, 1_000);
  allowance.take(10, 1_000);
  assert.equal(allowance.wait(1, 1_000), 59_100);
  assert.equal(allowance.wait(1, 60_099), 1);
  assert.equal(allowance.wait(100, 60_100), 0);
  allowance.tell(told(0, 2_000), 0, 59_500);
  assert.equal(allowance.wait(100, 60_100), 0, 'it was so before the window began');
  allowance.tell(told(0, 60_000), 0, 60_100);
  assert.ok(allowance.wait(1, 60_100) > 0, 'and this was so in it');
});
