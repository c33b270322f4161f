// Proves that a process whose whole first burst was refused, because others share the limit, goes on within seconds once a request is accepted.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Pace } from '../../../src/models/gate/pacing.ts';

it('a first burst that is refused as a whole is no limit of nothing', () => {
  const pace = new Pace();
  pace.idle(0);
  for (let sent = 0; sent < 15; sent += 1) pace.take(false, sent);
  for (let sent = 0; sent < 15; sent += 1) pace.refused(sent, sent === 0, 0, 100 + sent);
  pace.take(true, 2_000);
  pace.accepted(true, 2_000, 2_100);
  const wait_ms = pace.wait(2_100);
  assert.ok(wait_ms < 10_000, `the next one waits ${wait_ms} ms`);
});
