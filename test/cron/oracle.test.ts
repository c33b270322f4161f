/**
 * Proves that `nextInstant` loses no instant and repeats none: whole years (sixteen, or five) of expressions of every kind, in zones of every kind, compared
 * with an oracle that implements the policy without the library.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DEEP } from '../house/deep.ts';
import { agrees } from './agrees.ts';
import { stretches } from './oracle-zone.ts';
import { changesOf, FROM, stretchesOf, UNTIL, ZONES } from './oracle-zones.ts';

const EXPRESSIONS = [
  // every day, near the clock changes of all zones
  '30 2 * * *',
  '0 0 * 4,9 *',
  '30 23 25-31 3,10 *',
  // lists, ranges and steps of hours and minutes
  '15 1,3 24-31 3,10 *',
  '0 1-4 * 3,4,9-11 0',
  '*/20 2 * 3,10,11 SUN',
  '0,30 0-2 * 3,4,9 SUN',
  '0 */3 1-7 4,9 *',
  '45 1-3/2 25-31 3,10 *',
  '10-50/20 0 1 */2 *',
  '30 0-2/1 25 10 *',
  '15 1-3/1 29 3 *',
  // days of the week
  '0 9 * 5 1-5',
  '30 2 * * 7',
  '30 1 * mar-apr sat-sun',
  '45 23 * 3 SAT',
  '0 0 * FEB TUE,THU',
  // the nth and the last weekday of a month
  '0 2 * * SUN#2',
  '0 9 * * MON#1,WED#3',
  '30 1 * * SUN#L',
  '0 0 * * 5L',
  '0 3 * * MON#5',
  // days of the month
  '0 0 1 * *',
  '30 2 31 * *',
  '0 0 L * *',
  '30 2 1,15,L 3,10-11 *',
  '30 3 15W * *',
  '5 4 1W,31W * *',
  '0 12 LW * *',
  '0 6 */5 JAN-FEB,DEC *',
  // both day fields
  '30 2 13 * 5',
  '0 9 1-7 * +MON',
  '30 1 25-31 3,10 +SUN',
  '0 9 */10 * 1',
  // ends of years, leap days, a single date, names, nicknames
  '59 59 23 31 12 *',
  '0 0 0 1 1 *',
  '*/30 */1 31 12 *',
  '0 0 29 2 *',
  '30 2 29 2 +TUE',
  '0 12 ? DEC MON',
  '@monthly',
  '@weekly',
  // seconds
  '10,40 30 2 25-31 3,10 *',
  '*/20 59 1,23 28-31 3 7',
];

describe('years of instants', () => {
  it('there are expressions of all kinds', () => {
    assert.ok(new Set(EXPRESSIONS).size >= 30, `${EXPRESSIONS.length} expressions`);
    const changing = ZONES.filter((tz) => changesOf(tz).length > 0);
    assert.ok(changing.length >= 9, `clocks change in ${changing.join(', ')} only`);
  });

  for (const tz of ZONES) {
    it(`${tz}: instant for instant`, (test) => {
      const counts = EXPRESSIONS.map((expression) => agrees(expression, tz, FROM, UNTIL));
      const idle = counts.filter((count) => count === 0).length;
      assert.ok(idle <= (DEEP ? 0 : 2), 'an expression without an instant proves nothing');
      const total = counts.reduce((sum, count) => sum + count);
      test.diagnostic(`${tz}: ${total} instants compared`);
    });
  }
});

describe('the oracle itself', () => {
  it('knows the wall clock of every minute around every change', (test) => {
    let minutes = 0;
    for (const tz of ZONES) {
      const clock = new Intl.DateTimeFormat('sv-SE', {
        timeZone: tz,
        dateStyle: 'short',
        timeStyle: 'medium',
      });
      const zone = stretchesOf(tz);
      for (const change of [Date.UTC(2024, 0, 1), ...changesOf(tz)]) {
        for (let at = change - 90 * 60_000; at <= change + 90 * 60_000; at += 60_000) {
          const offset = zone.find(({ start, end }) => at >= start && at < end)?.offset as number;
          const wall = new Date(at + offset).toISOString().slice(0, 19).replace('T', ' ');
          assert.equal(clock.format(at), wall, tz);
          minutes += 1;
        }
      }
    }
    test.diagnostic(`${minutes} minutes looked at`);
    assert.ok(minutes > (DEEP ? 30_000 : 10_000));
  });

  it('finds the day that Apia left out, and the changes that Berlin had', () => {
    const year = stretches('Pacific/Apia', Date.UTC(2011, 11, 1), Date.UTC(2012, 0, 31));
    assert.deepEqual(
      year.map(({ start, offset }) => [new Date(start).toISOString(), offset / 3_600_000]),
      [
        ['2011-12-01T00:00:00.000Z', -10],
        ['2011-12-30T10:00:00.000Z', 14],
      ],
    );
    assert.deepEqual(
      changesOf('Europe/Berlin')
        .slice(0, 2)
        .map((at) => new Date(at).toISOString()),
      ['2020-03-29T01:00:00.000Z', '2020-10-25T01:00:00.000Z'],
    );
  });
});
