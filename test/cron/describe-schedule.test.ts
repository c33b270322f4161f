/** Proves how schedules and instants are written for people. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import {
  describeSchedule,
  instantText,
  localZone,
  wallText,
} from '../../src/cron/schedule/describe-schedule.ts';
import { temporaryFolder } from '../temporary-folder.ts';

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

// In a process of its own, because the zone is the process's.
const ZONES = `
import { localZone } from '${new URL('../../src/cron/schedule/describe-schedule.ts', import.meta.url).href}';
const zones = process.argv.slice(1).map((tz) => {
  process.env.TZ = tz;
  return localZone();
});
console.log(JSON.stringify(zones));
`;

it('the zone of the machine has a name, also where TZ is an offset, unknown or empty', async () => {
  const wanted = {
    'Europe/Berlin': 'Europe/Berlin',
    'UTC+5': 'Etc/GMT+5',
    'XYZ-3': 'Etc/GMT-3',
    'Nowhere/Bad': 'UTC',
    '': 'UTC',
  };
  const args = ['--input-type=module', '-e', ZONES, '--', ...Object.keys(wanted)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  assert.deepEqual(JSON.parse(stdout), Object.values(wanted));
});

it('where TZ names the file of a zone, its zone is meant', () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'zoneinfo', 'Europe'), { recursive: true });
  const [zone, none] = ['Europe/Berlin', 'copied'].map((name) => join(folder, 'zoneinfo', name)) as [
    string,
    string,
  ];
  for (const file of [zone, none]) writeFileSync(file, '');
  symlinkSync(zone, join(folder, 'localtime'));
  for (const tz of [zone, `:${zone}`, `:${join(folder, 'localtime')}`])
    assert.equal(localZone(null, tz), 'Europe/Berlin');
  assert.notEqual(localZone(null, none), 'copied');
});
