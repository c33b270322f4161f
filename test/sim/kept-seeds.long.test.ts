// Proves that each seed of the simulation that once found a fault finds none now. They stay in the suite permanently.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type SimOptions, simulate } from './simulate.ts';

/** Each with the fault it found. */
const KEPT_SEEDS: readonly {
  readonly seed: number;
  readonly found: string;
  readonly more?: Pick<SimOptions, 'workflows' | 'prompt' | 'pauses'>;
}[] = [
  { seed: 1, found: 'a read that failed after a refused step stopped the executor for good' },
  {
    seed: 2,
    found: 'whoever waited for the end of a tree was sent away by a ledger that was away for a moment',
  },
  { seed: 6, found: 'agents whose claim was answered to nobody were led by nobody' },
  { seed: 14, found: 'a process that claimed its own agents anew led them twice, and a tool ran twice' },
  { seed: 19, found: 'a letter was never read when its signal was taken and the look at the mailbox failed' },
  { seed: 24, found: 'a call was never answered when the look-up of a name failed' },
  { seed: 75, found: 'an agent whose conversation another process had deleted was led on here for ever' },
  { seed: 87, found: 'a run that ended elsewhere, and was deleted, kept its place in the queue' },
  {
    seed: 1316,
    found: 'a letter to a child was never read when it came before its creation was acknowledged',
  },
  {
    seed: 4112,
    found: 'a slow answer to a step made an agent that was taken over meanwhile look as it was before',
  },
  {
    seed: 2585,
    found: 'an agent that was deleted elsewhere was taken for one at work when its tree was taken over',
  },
  {
    ...{ seed: 32, more: { workflows: true } },
    found:
      'a workflow run that a person interrupted waited for ever for an agent whose end had come meanwhile',
  },
  {
    ...{ seed: 117, more: { workflows: true } },
    found: 'what worked below an ended agent of a paused workflow run was never let go on',
  },
  {
    ...{ seed: 25, more: { prompt: true } },
    found: 'a tree in whose round the ledger did not answer waited as long again beside another',
  },
  {
    ...{ seed: 27, more: { prompt: true } },
    found:
      'two agents that waited for each other in two processes were not freed while one had an unread letter of a third',
  },
  {
    ...{ seed: 94024, more: { pauses: true } },
    found:
      'the refusal of a request that was under way was taken for that of the one that tries a closed provider',
  },
];

for (const { seed, found, more = {} } of KEPT_SEEDS)
  it(`seed ${seed}, which found: ${found}`, async () => {
    assert.deepEqual((await simulate(seed, more)).failures, [], `npm run sim -- --seed ${seed} --trace`);
  });
