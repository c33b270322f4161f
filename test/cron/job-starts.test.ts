// Proves what an instant of a job begins: a run within the shorter of two time limits; and that each instant is listed with its own run, however old that is.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fireJob } from '../../src/cron/begin-run.ts';
import { jobRuns } from '../../src/cron/job-runs.ts';
import type { CronJob } from '../../src/records/run/cron-job.ts';
import type { FireRequest } from '../../src/records/run/fire-request.ts';
import type { Store } from '../../src/store/store.ts';
import { CONFIG } from '../store/ledger-fixture.ts';
import { jobOf } from './cron-stage.ts';

it('of the limit of a job and that of its profile the shorter one holds', async () => {
  for (const [timeout_ms, run_ms, expected] of [
    [5_000, 1_000, 1_000],
    [1_000, 5_000, 1_000],
    [5_000, undefined, 5_000],
    [null, 1_000, 1_000],
    [null, undefined, undefined],
  ] as const) {
    const fired: FireRequest[] = [];
    const store = {
      fire: async (request: FireRequest) => {
        fired.push(request);
        return { outcome: 'fired' };
      },
    } as unknown as Store;
    const config = { ...CONFIG, ...(run_ms === undefined ? {} : { run_ms }) };
    const job = { ...jobOf({ type: 'at', at: 1 }, { timeout_ms, config }), version: 1, next_at: 1 };
    await fireJob({ store, canAsk: () => false }, job as CronJob, 1, { instant: 1, manual: false });
    const [begin] = fired.map((request) => request.begin);
    assert.equal(begin?.type === 'run' && begin.root.agent.config.run_ms, expected ?? undefined);
  }
});

it('an instant is listed with its run, also if that is not among the newest, and without one if it is gone', async () => {
  const fires = ['new', 'old', 'gone', null].map((run_id, at) => ({ run_id, instant: at }));
  const store = {
    fires: async () => fires,
    runs: async () => [{ id: 'other' }, { id: 'new' }],
    findRuns: async (id: string) => (id === 'old' ? [{ id }] : []),
  } as unknown as Store;
  const listed = await jobRuns(store, 'job', 4);
  assert.deepEqual(
    listed.map(({ fire, run }) => [fire.run_id, run?.id ?? null]),
    [
      ['new', 'new'],
      ['old', 'old'],
      ['gone', null],
      [null, null],
    ],
  );
});
