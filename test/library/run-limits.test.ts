// Proves that the isolated runs of a process are bounded by its memory, unless the configuration says otherwise.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { subagentTerms } from '../../src/settings/subagent-terms.ts';

it('as many as fit into half of the free memory; runs on timers stay few', () => {
  const { max_concurrent: most, per_source } = subagentTerms({}, {}).runs;
  const fit = process.availableMemory() / 2 ** 21;
  assert.ok(most >= 100 && most < Math.max(101, fit * 1.5), `${most}`);
  assert.ok(most === 100 || most > fit * 0.5, `${most}`);
  assert.deepEqual(per_source, { cron: 8, subagent: most, delegate: most });
});

it('the configuration wins', () => {
  const { runs } = subagentTerms({ runs: { maxConcurrent: 3, perSource: { delegate: 2 } } }, {});
  assert.deepEqual([runs.max_concurrent, runs.per_source.delegate, runs.per_source.cron], [3, 2, 8]);
});
