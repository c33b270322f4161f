/**
 * Proves, for generated expressions, zones and moments, that the next instant equals the oracle's and lies in the future, and that the instants reported as due
 * in a span are those found by stepping through it.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { COUNT_CAP, dueInstants, nextInstant } from '../../src/cron/schedule/next-instant.ts';
import { DEEP } from '../house/deep.ts';
import { arbitraryExpression } from './arbitrary-expression.ts';
import { oracle } from './oracle.ts';
import { type Fields, readFields } from './oracle-fields.ts';
import type { Stretch } from './oracle-zone.ts';
import { changesOf, FROM, stretchesOf, UNTIL, ZONES } from './oracle-zones.ts';

const RUNS = DEEP ? 500 : 100;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Half of the moments lie within hours of a clock change, if the zone has one. */
const moment = fc
  .tuple(fc.constantFrom(...ZONES), fc.boolean(), fc.nat(), fc.integer({ min: -3 * HOUR, max: 3 * HOUR }))
  .map(([tz, near, place, off]) => {
    const changes = near ? changesOf(tz) : [];
    const change = changes[place % Math.max(1, changes.length)];
    return {
      tz,
      near: change !== undefined,
      at: change === undefined ? FROM + ((place * 997) % (UNTIL - FROM)) : change + off,
    };
  });

describe('any schedule', () => {
  it('comes next when the oracle says', (test) => {
    const seen = { compared: 0, near: 0, never: 0 };
    fc.assert(
      fc.property(arbitraryExpression, moment, (expression, { tz, near, at }) => {
        const schedule = { type: 'cron', expression, tz } as const;
        const expected = firstAfter(readFields(expression), stretchesOf(tz), at);
        const next = nextInstant(schedule, at);
        if (expected === null) assert.ok(next === null || next > UNTIL);
        else assert.equal(next, expected, `${iso(next)}, not ${iso(expected)}, after ${iso(at)}`);
        assert.ok(next === null || next > at);
        seen.compared += 1;
        seen.near += near ? 1 : 0;
        seen.never += next === null ? 1 : 0;
      }),
      { numRuns: RUNS },
    );
    test.diagnostic(`${seen.compared} compared, ${seen.near} near a change, ${seen.never} that never come`);
    // A share of two fifths: bounds near to it would be missed once in thousands of runs, by the dice alone.
    assert.ok(seen.near > RUNS / 20, 'too few moments near a change');
    assert.ok(seen.never < RUNS / 4, 'too many expressions that never come');
  });

  it('was due as often and as late as stepping finds', (test) => {
    const seen = { instants: 0, empty: 0, capped: 0 };
    const span = fc.oneof(fc.nat({ max: 3 * HOUR }), fc.nat({ max: 3 * DAY }), fc.nat({ max: 400 * DAY }));
    fc.assert(
      fc.property(arbitraryExpression, moment, span, (expression, { tz, at }, length) => {
        const schedule = { type: 'cron', expression, tz } as const;
        const [fields, zone] = [readFields(expression), stretchesOf(tz)];
        // Expressions with many instants per day are checked over a shorter span.
        const from = at - (perDay(fields) > 50 ? length % (4 * HOUR) : length);
        const expected = oracle(fields, zone, from, at);
        const due = dueInstants(schedule, from, at);
        assert.equal(due.newest, expected.at(-1) ?? null);
        assert.equal(due.count, Math.min(expected.length, COUNT_CAP));
        seen.instants += expected.length;
        seen.empty += expected.length === 0 ? 1 : 0;
        seen.capped += due.count === COUNT_CAP ? 1 : 0;
      }),
      { numRuns: RUNS },
    );
    test.diagnostic(
      `${seen.instants} instants, ${seen.empty} stretches without one, ${seen.capped} counts cut`,
    );
    // Three of four stretches have none.
    assert.ok(seen.instants > RUNS && seen.empty < RUNS);
  });

  it('gives one ascending sequence, whatever the places it is asked from', () => {
    fc.assert(
      fc.property(arbitraryExpression, moment, fc.nat(), (expression, { tz, at }, part) => {
        const schedule = { type: 'cron', expression, tz } as const;
        let before = at;
        for (let count = 0; count < 20; count += 1) {
          const next = nextInstant(schedule, before);
          if (next === null) return;
          assert.ok(next > before);
          const between = before + (part % (next - before));
          assert.equal(nextInstant(schedule, between), next, `asked at ${iso(between)}`);
          assert.deepEqual(dueInstants(schedule, before, next), { newest: next, count: 1 });
          assert.deepEqual(dueInstants(schedule, before, next - 1), { newest: null, count: 0 });
          before = next;
        }
      }),
      { numRuns: RUNS / 5 },
    );
  });
});

function firstAfter(fields: Fields, zone: readonly Stretch[], at: number): number | null {
  for (const reach of [HOUR, DAY, 32 * DAY, 400 * DAY, UNTIL - at]) {
    const [first] = oracle(fields, zone, at, Math.min(at + reach, UNTIL));
    if (first !== undefined) return first;
  }
  return null;
}

/** Returns the number of matching instants on a matching day. */
function perDay({ hour, minute, second }: Fields): number {
  const parts = [hour, minute, second].map(
    (test, part) => [...Array(part === 0 ? 24 : 60).keys()].filter(test).length,
  );
  return parts.reduce((product, count) => product * count);
}

function iso(at: number | null): string {
  return at === null ? 'none' : new Date(at).toISOString();
}
