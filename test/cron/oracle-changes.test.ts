/**
 * Proves that dense schedules lose and repeat no instant where clocks change: days, hours and minutes around every change of every zone (and around some
 * moments without one) are compared with the oracle, instant by instant.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DEEP } from '../house/deep.ts';
import { agrees } from './agrees.ts';
import { changesOf, ZONES } from './oracle-zones.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Expressions to check, and how far to each side of a change. */
const AROUND: readonly { readonly reach: number; readonly expressions: readonly string[] }[] = [
  {
    reach: 2 * DAY,
    expressions: [
      '*/15 * * * *',
      '0 * * * *',
      '7,37 */2 * * *',
      '*/20 1-3 * * *',
      '0 0,6,12,18 * * *',
      '*/30 */1 * * 6,0',
      '59 59 0-23 * * *',
    ],
  },
  { reach: 150 * MINUTE, expressions: ['* * * * *', '* 0-4 * * *', '1-59/2 1-23/2 L,1-31 * *'] },
  { reach: HOUR, expressions: ['*/40 * * * * *', '0,59 0,59 0-3,22,23 * * *'] },
];
const EVERY_SECOND = ['* * * * * *', '* * 0-23 * * *'];
/** Number of changes per zone around which every second is compared; consecutive changes cover both directions. */
const CLOSELY = DEEP ? 4 : 1;
/** The end of a year, a leap day and a summer day; also cover zones without clock changes. */
const QUIET = [Date.UTC(2024, 0, 1), Date.UTC(2028, 1, 29, 12), Date.UTC(2033, 6, 1, 0, 30)];

describe('dense schedules around changes of the clock', () => {
  for (const tz of ZONES) {
    it(`${tz}: instant for instant`, (test) => {
      const changes = changesOf(tz);
      let compared = 0;
      for (const change of [...QUIET, ...changes]) {
        for (const { reach, expressions } of AROUND) {
          for (const expression of expressions)
            compared += agrees(expression, tz, change - reach, change + reach);
        }
      }
      for (const change of [...QUIET, ...changes.slice(0, CLOSELY)]) {
        // The change itself, and where the stretch of wall time that it repeats may end.
        for (const later of [0, 30 * MINUTE, HOUR, 2 * HOUR]) {
          const middle = change + later;
          for (const expression of EVERY_SECOND)
            compared += agrees(expression, tz, middle - MINUTE, middle + MINUTE);
        }
      }
      test.diagnostic(`${tz}: ${compared} instants around ${changes.length} changes compared`);
      assert.ok(compared > 4000);
    });
  }
});
