// Proves that a run killed with SIGKILL at random moments and resumed ends with the right answer, each letter once, no call silently run again.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { LONG } from '../house/long.ts';
import { killAndResume } from './kill-and-resume.ts';

const ROUNDS = LONG ? 6 : 1;

it(`${ROUNDS} runs of 25 children, killed up to four times each`, async (context) => {
  let [kills, interrupted] = [0, 0];
  for (let round = 0; round < ROUNDS; round += 1) {
    const report = await killAndResume(25, 4, Math.random);
    kills += report.kills;
    interrupted += report.interrupted;
  }
  context.diagnostic(`${kills} kills, ${interrupted} calls reported as interrupted`);
  assert.ok(kills >= ROUNDS, `the faults must fire: only ${kills} kills`);
});
