import assert from 'node:assert/strict';
import { nextInstant } from '../../src/cron/schedule/next-instant.ts';
import { oracle } from './oracle.ts';
import { readFields } from './oracle-fields.ts';
import { stretchesOf } from './oracle-zones.ts';

/** Steps through (from, until] and compares every instant with the oracle's. Returns the number of instants. */
export function agrees(expression: string, tz: string, from: number, until: number): number {
  const schedule = { type: 'cron', expression, tz } as const;
  const expected = oracle(readFields(expression), stretchesOf(tz), from, until);
  let at: number | null = from;
  for (const [index, instant] of expected.entries()) {
    const before: number = at;
    at = nextInstant(schedule, before);
    if (at !== instant) {
      const place = `"${expression}" in ${tz}, instant ${index} after ${iso(from)}`;
      assert.fail(`${place}: after ${iso(before)} comes ${iso(at)}, not ${iso(instant)}`);
    }
  }
  const beyond = nextInstant(schedule, at);
  assert.ok(beyond === null || beyond > until, `"${expression}" in ${tz}: ${iso(beyond)} is one too many`);
  return expected.length;
}

function iso(at: number | null): string {
  return at === null ? 'none' : new Date(at).toISOString();
}
