/** Proves how schedules and instants are written for people. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeSchedule, instantText, wallText } from '../../src/cron/schedule/describe-schedule.ts';

const BERLIN = 'Europe/Berlin';
const AT = Date.parse('2026-11-23T08:00:00Z');

describe('schedules in words', () => {
  it('a cron expression stands with its own zone', () => {
    const schedule = { type: 'cron', expression: '0 9 * * 1-5', tz: BERLIN } as const;
    assert.equal(describeSchedule(schedule, 'UTC'), '0 9 * * 1-5 Europe/Berlin');
  });

  it('every, in the units of the options', () => {
    assert.equal(describeSchedule({ type: 'every', every_ms: 600_000, anchor: 0 }, BERLIN), 'every 10m');
    assert.equal(describeSchedule({ type: 'every', every_ms: 5_400_000, anchor: 0 }, BERLIN), 'every 1h30m');
  });

  it('at, in the zone of the reader', () => {
    assert.equal(describeSchedule({ type: 'at', at: AT }, BERLIN), 'at 2026-11-23 09:00 Europe/Berlin');
    assert.equal(describeSchedule({ type: 'at', at: AT }, 'UTC'), 'at 2026-11-23 08:00 UTC');
  });
});

describe('instants in words', () => {
  it('on the wall, with UTC behind', () => {
    assert.equal(instantText(AT, BERLIN), '2026-11-23 09:00 Europe/Berlin (08:00Z)');
    assert.equal(instantText(AT, 'Asia/Kathmandu'), '2026-11-23 13:45 Asia/Kathmandu (08:00Z)');
    assert.equal(instantText(AT, 'UTC'), '2026-11-23 08:00 UTC');
  });

  it('with the date of UTC where it is another one', () => {
    const night = Date.parse('2026-11-22T23:30:00Z');
    assert.equal(instantText(night, BERLIN), '2026-11-23 00:30 Europe/Berlin (2026-11-22 23:30Z)');
  });

  it('with seconds where there are some', () => {
    assert.equal(instantText(AT + 30_250, BERLIN), '2026-11-23 09:00:30 Europe/Berlin (08:00:30Z)');
    assert.equal(wallText(AT + 999, BERLIN), '2026-11-23 09:00');
  });

  it('tells the two runs of a repeated hour apart', () => {
    const first = Date.parse('2025-10-26T00:30:00Z');
    assert.equal(instantText(first, BERLIN), '2025-10-26 02:30 Europe/Berlin (00:30Z)');
    assert.equal(instantText(first + 3_600_000, BERLIN), '2025-10-26 02:30 Europe/Berlin (01:30Z)');
  });
});
