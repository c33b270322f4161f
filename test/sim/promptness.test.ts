// Proves that everything that waits continues as soon as the ledger holds what it waits for, whichever processes lead the agents, without a timeout or a poll:
// waits, fan-ins, delegated calls, agents at rest with letters or announcements, queued runs.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { DEEP } from '../house/deep.ts';
import { PROMPT_KINDS } from './promptness.ts';
import { simulate } from './simulate.ts';

/** Number 2 detects a wait that is not woken if the ledger's report on the agents waited for is ignored. */
const SEEDS = DEEP ? [1, 2, 3, 4, 5, 6, 7, 8] : [2];

it('nothing waits when what it waits for has come', async () => {
  const ended = new Map<string, number>();
  for (const seed of SEEDS) {
    const report = await simulate(seed, { prompt: true });
    assert.deepEqual(report.failures, [], `npm run sim -- --prompt --seed ${seed} --trace`);
    for (const [kind, times] of report.prompt_ends) ended.set(kind, (ended.get(kind) ?? 0) + times);
  }
  for (const kind of DEEP ? PROMPT_KINDS : (['wait', 'letter'] as const))
    assert.ok(ended.has(kind), `of the kind "${kind}" none was seen`);
});
