// Proves that the time at which a job is due is told by the clocks of its own zone, and by those of the browser where they differ.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { clock } from '../../web/views/schedules/schedule-text.ts';

const NEXT_YEAR = `${new Date().getFullYear() + 1}-06-01T00:00:00.000Z`;
const HERE = Intl.DateTimeFormat().resolvedOptions().timeZone;
const ELSEWHERE = HERE === 'Asia/Tokyo' ? 'America/New_York' : 'Asia/Tokyo';
const cron = (tz: string) => ({ type: 'cron', expression: '0 9 * * *', tz }) as const;
const timeIn = (timeZone?: string) =>
  new Date(NEXT_YEAR).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit', timeZone });

it('a zone whose clocks show another time is named, with its time and that of the browser', () => {
  const text = clock(NEXT_YEAR, cron(ELSEWHERE));
  assert.match(text, new RegExp(`${timeIn(ELSEWHERE)} in ${ELSEWHERE}, here .*${timeIn()} \\(in \\d+d`));
});

it('one time is told once: in the zone of the browser, for an interval, and in a zone that it does not know', () => {
  const plain = clock(NEXT_YEAR, { type: 'at', at: NEXT_YEAR });
  assert.match(plain, new RegExp(`^[^(]*${timeIn()} \\(in \\d+d`));
  for (const schedule of [cron(HERE), cron('Mars/Olympus'), { type: 'every', every_seconds: 60 } as const])
    assert.equal(clock(NEXT_YEAR, schedule), plain);
});
