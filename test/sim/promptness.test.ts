// Proves that a wait ends as soon as the ledger holds what it waits for, whichever processes lead the agents: without a timeout and without a poll.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { LONG } from '../house/long.ts';
import { simulate } from './simulate.ts';

const SEEDS = LONG ? 4 : 1;

it('no wait goes on when what it waits for has come', async () => {
  let ended = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const report = await simulate(seed, { prompt: true });
    assert.deepEqual(report.failures, [], `npm run sim -- --prompt --seed ${seed} --trace`);
    ended += report.prompt_ends;
  }
  assert.ok(ended >= SEEDS * 2, `only ${ended} waits were seen to end`);
});
