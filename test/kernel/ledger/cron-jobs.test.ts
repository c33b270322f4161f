// Proves what a job does with two instants at once: which of them runs, waits or is left out, and that none begins twice.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fire, fireKey } from '../../../src/kernel/ledger/cron-jobs.ts';
import type { FireRequest } from '../../../src/records/run/fire-request.ts';
import { agentOf, type Entries, rows, treeOf, unitOf } from './ledger-stage.ts';

const JOB = { id: 'j', root_id: null, enabled: true, next_at: 10, version: 1 } as never;
const MAIL = {
  id: 'm',
  root_id: 'root',
  to_id: 'root',
  from_id: null,
  from_name: 'cron',
  kind: 'event',
} as const;

function fired(over: Partial<FireRequest>, more: Entries = {}) {
  const request: FireRequest = {
    ...{ job_id: 'j', version: 1, next_at: 10, instant: 10, manual: false, waited: false, missed: 0 },
    ...{ then_at: 20, disable: false, overlap: 'queue', at: 11 },
    begin: { type: 'event', mail: { ...MAIL, body: 'x', sent_at: 11 } },
    ...over,
  };
  const unit = unitOf({
    job: { j: JOB },
    tree: { root: treeOf() },
    agent: { root: agentOf('root') },
    ...more,
  });
  const { outcome } = fire(unit, request);
  return [outcome, rows(unit, 'cron_fires').length, rows(unit, 'mail').length];
}

const QUEUED = { instant: 10, manual: false };

it('an instant that waits begins once the run before it has ended, and not again', () => {
  const waiting_fire = { j: QUEUED };
  assert.deepEqual(fired({ waited: true }, { waiting_fire }), ['fired', 1, 1]);
  assert.deepEqual(fired({ waited: true }, { waiting_fire, job_at_work: { j: true } }), ['stale', 0, 0]);
  assert.deepEqual(fired({ waited: true }), ['stale', 0, 0], 'another process has begun it');
  for (const other of [
    { instant: 9, manual: false },
    { instant: 10, manual: true },
  ])
    assert.deepEqual(fired({ waited: true }, { waiting_fire: { j: other } }), ['stale', 0, 0]);
});

it('the same instant is one, a manual one beside it another', () => {
  const facts = { outcome: 'fired', fired_at: 10 } as never;
  const taken = (manual: boolean): Entries => ({ fire: { [fireKey('j', { instant: 10, manual })]: facts } });
  assert.deepEqual(fired({}, taken(false)), ['stale', 0, 0]);
  assert.deepEqual(fired({ manual: true }, taken(false)), ['fired', 1, 1]);
  assert.deepEqual(fired({ manual: true }, taken(true)), ['stale', 0, 0]);
});
