// Proves that background runs survive SIGKILL of the process that leads them: each end is announced exactly once, queued runs still begin, cleanup follows.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { killSessions } from './kill-sessions.ts';

it('a hundred runs, eight at a time, killed up to four times', async (context) => {
  const kills = await killSessions(100, 4, Math.random);
  context.diagnostic(`${kills} kills`);
  assert.ok(kills >= 1, 'the faults must fire');
});
