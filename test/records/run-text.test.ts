// Proves that the end of a run has the same text in a delivery and in an announcement, and how a target is split into channel and address.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { splitTarget } from '../../src/records/run/delivery.ts';
import type { Run } from '../../src/records/run/run.ts';
import { announcement, runText } from '../../src/records/run/run-end.ts';
import { newRun } from '../channels/parcel-fixture.ts';
import { unframed } from '../unframed.ts';

const DELIMITER = '0123abcd';
const ENDS: readonly (readonly [Partial<Run>, string])[] = [
  [{}, '[Cron: nightly] Complete.\n\nall is well'],
  [{ result: null }, '[Cron: nightly] Complete.'],
  [{ result: '' }, '[Cron: nightly] Complete.'],
  [
    { error: '1 call denied: bash (by Ada)' },
    '[Cron: nightly] Complete, but 1 call denied: bash (by Ada).\n\nall is well',
  ],
  [
    { error: 'the limit', outcome: 'cut_short' },
    '[Cron: nightly] Cut short: the limit\n\nWhat it had by then:\nall is well',
  ],
  [{ status: 'failed', result: null, error: 'why' }, '[Cron: nightly] Failed: why'],
  [{ status: 'failed', result: null, error: null }, '[Cron: nightly] Failed: no reason was recorded'],
  [
    { status: 'timeout', result: 'half', error: 'too slow' },
    '[Cron: nightly] Timed out: too slow\n\nWhat it had by then:\nhalf',
  ],
  [{ status: 'cancelled', result: null, error: 'Killed by you' }, '[Cron: nightly] Cancelled: Killed by you'],
  [{ source: 'subagent', label: 'research' }, '[Subagent: research] Complete.\n\nall is well'],
  [{ source: 'delegate', label: null, id: 'run-7' }, '[Delegate: run-7] Complete.\n\nall is well'],
];
for (const [over, text] of ENDS)
  it(`tells: ${text.replaceAll('\n', ' ')}`, () => assert.equal(runText(newRun(over)), text));

it('says of a background run what its requester is told', () => {
  const run = newRun({ source: 'subagent', label: 'a', status: 'timeout', result: 'half', error: 'why' });
  const outcome = { type: 'failure', error: 'why', error_kind: 'timed_out', partial: 'half' } as const;
  assert.equal(runText(run), unframed(announcement('a', outcome, DELIMITER)));
  assert.equal(
    runText(newRun({ source: 'subagent', label: 'a', result: 'r' })),
    unframed(announcement('a', { type: 'success', result: 'r' }, DELIMITER)),
  );
});

it('a target names its channel, and all that follows is the address there', () => {
  assert.deepEqual(splitTarget('telegram:4:2'), { channel: 'telegram', address: '4:2' });
  assert.deepEqual(splitTarget('stdout'), { channel: 'stdout', address: '' });
  assert.deepEqual(splitTarget(':x'), { channel: '', address: 'x' });
});
