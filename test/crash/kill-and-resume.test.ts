// Proves that a run killed with SIGKILL at random moments and resumed ends with the right answer, each letter once, no call silently run again.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { killAndResume } from './kill-and-resume.ts';

it('six runs of 25 children, killed up to four times each', async (context) => {
  let [kills, interrupted] = [0, 0];
  for (let round = 0; round < 6; round += 1) {
    const report = await killAndResume(25, 4, Math.random);
    kills += report.kills;
    interrupted += report.interrupted;
  }
  context.diagnostic(`${kills} kills, ${interrupted} calls reported as interrupted`);
  assert.ok(kills >= 6, `the faults must fire: only ${kills} kills`);
});
