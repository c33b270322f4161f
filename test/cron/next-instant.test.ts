/** Proves every line of docs/cron-times.md, and the arithmetic of `every` and `at`, with expected values written by hand, without the oracle. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, it } from 'node:test';
import { COUNT_CAP, dueInstants, nextInstant } from '../../src/cron/schedule/next-instant.ts';
import { CoppiceError } from '../../src/records/coppice-error.ts';
import type { Schedule } from '../../src/records/run/cron-job.ts';

const BERLIN = 'Europe/Berlin';
const PAGE = join(import.meta.dirname, '..', '..', 'docs', 'cron-times.md');

function cron(expression: string, tz = BERLIN): Schedule {
  return { type: 'cron', expression, tz };
}

function at(iso: string): number {
  return Date.parse(iso);
}

function next(schedule: Schedule, after: string): string | null {
  const instant = nextInstant(schedule, at(after));
  return instant === null ? null : new Date(instant).toISOString();
}

/** All instants in [from, until], in the notation of docs/cron-times.md. */
function written(expression: string, from: string, until: string): string {
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone: BERLIN, timeStyle: 'short' });
  const found: string[] = [];
  let instant = nextInstant(cron(expression), at(from) - 1);
  while (instant !== null && instant <= at(until)) {
    found.push(`${clock.format(instant)} (${new Date(instant).toISOString().slice(11, 16)}Z)`);
    instant = nextInstant(cron(expression), instant);
  }
  return found.join(', ') || 'none';
}

describe('the nights of docs/cron-times.md', () => {
  const rows = readFileSync(PAGE, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, expression, spring, autumn] = /^\| `([^`]+ [^`]+)` \| (.+) \| (.+) \|$/.exec(line) ?? [];
      return expression && spring && autumn ? [{ expression, spring, autumn }] : [];
    });

  it('has a row for fixed times, lists, ranges, wildcards and steps', () => {
    for (const expression of ['30 2 * * *', '15 1-4 * * *', '0 * * * *', '*/30 * * * *', '0 */2 * * *'])
      assert.ok(
        rows.some((row) => row.expression === expression),
        expression,
      );
  });

  for (const { expression, spring, autumn } of rows) {
    it(expression, () => {
      assert.equal(written(expression, '2026-03-29T00:30Z', '2026-03-29T01:30Z'), spring);
      assert.equal(written(expression, '2026-10-24T23:30Z', '2026-10-25T02:30Z'), autumn);
    });
  }

  it('is due at midnight when the gap ends with the day', () => {
    const evening = cron('30 23 * * *', 'America/Nuuk');
    assert.equal(next(evening, '2025-03-29T12:00Z'), '2025-03-30T01:00:00.000Z');
    assert.equal(next(evening, '2025-03-30T01:00Z'), '2025-03-31T00:30:00.000Z');
    assert.deepEqual(dueInstants(evening, at('2025-03-29T12:00Z'), at('2025-03-30T12:00Z')), {
      newest: at('2025-03-30T01:00Z'),
      count: 1,
    });
  });

  it('takes a whole day that was left out for a gap', () => {
    const daily = cron('0 9 * * *', 'Pacific/Apia');
    assert.equal(next(daily, '2011-12-29T19:00Z'), '2011-12-30T10:00:00.000Z');
    assert.equal(next(daily, '2011-12-30T10:00Z'), '2011-12-30T19:00:00.000Z');
    assert.equal(next(cron('0 */9 * * *', 'Pacific/Apia'), '2011-12-30T04:00Z'), '2011-12-30T10:00:00.000Z');
  });
});

describe('expressions', () => {
  it('are due after the instant, never at it', () => {
    assert.equal(next(cron('0 9 * * *'), '2026-11-21T07:59:59.999Z'), '2026-11-21T08:00:00.000Z');
    assert.equal(next(cron('0 9 * * *'), '2026-11-21T08:00:00.000Z'), '2026-11-22T08:00:00.000Z');
    assert.equal(next(cron('* * * * * *'), '2026-11-21T08:00:00.001Z'), '2026-11-21T08:00:01.000Z');
  });

  it('with hours written down are over once the first run of a repeated hour is', () => {
    assert.equal(next(cron('30 2 * * *'), '2025-10-26T00:30:00Z'), '2025-10-27T01:30:00.000Z');
    assert.equal(next(cron('30 2 * * *'), '2025-10-26T01:15:00Z'), '2025-10-27T01:30:00.000Z');
    assert.equal(next(cron('* 2 * * *'), '2025-10-26T00:59:00Z'), '2025-10-27T01:00:00.000Z');
  });

  it('find the second run of a repeated hour, however far the next such date is', () => {
    const yearly = cron('30 2-2/1 25 10 *');
    assert.equal(next(yearly, '2026-10-25T00:30:00Z'), '2026-10-25T01:30:00.000Z');
    assert.equal(next(yearly, '2026-10-25T01:30:00Z'), '2027-10-25T00:30:00.000Z');
  });

  it('know an instant that will not come', () => {
    assert.equal(nextInstant(cron('0 0 31 2 *'), 0), null);
    assert.deepEqual(dueInstants(cron('0 0 31 2 *'), 0, at('2026-01-01T00:00Z')), { newest: null, count: 0 });
  });

  it('either day field will do, with a plus both must', () => {
    assert.equal(next(cron('0 9 13 * 5'), '2026-11-01T00:00Z'), '2026-11-06T08:00:00.000Z');
    assert.equal(next(cron('0 9 13 * +5'), '2026-11-01T00:00Z'), '2026-11-13T08:00:00.000Z');
    assert.equal(next(cron('0 9 13 * +5'), '2026-11-14T00:00Z'), '2027-08-13T07:00:00.000Z');
  });

  it('that cannot be read, and zones that are none, are typed errors', () => {
    const refused = (schedule: Schedule): void =>
      assert.throws(
        () => nextInstant(schedule, 0),
        (error) =>
          error instanceof CoppiceError && error.code === 'E_INVALID_ARGUMENT' && error.hint !== null,
      );
    refused(cron('61 * * * *'));
    refused(cron('2030-01-01T00:00:00'));
    refused(cron('* * * * * * 2030'));
    refused(cron('* * * * *', 'Mars/Olympus'));
  });

  it('stay right when more of them are in use than are kept', () => {
    const minutes = [...Array(200).keys()];
    const schedule = (minute: number): Schedule =>
      cron(`${minute % 60} ${Math.floor(minute / 60)} * * *`, 'UTC');
    for (const round of [1, 2]) {
      for (const minute of minutes) {
        const expected = at('2026-06-01T00:00Z') + minute * 60_000;
        assert.equal(nextInstant(schedule(minute), at('2026-06-01T00:00Z') - 1), expected, `round ${round}`);
      }
    }
  });
});

describe('the zone of the machine', () => {
  const own = process.env.TZ;
  afterEach(() => {
    if (own === undefined) delete process.env.TZ;
    else process.env.TZ = own;
  });

  it('changes nothing', () => {
    const instants = (): (string | null)[] =>
      ['30 2 * * *', '*/15 * * * *', '0 0 L * *'].flatMap((expression) =>
        ['2026-03-29T00:50Z', '2026-10-25T00:50Z'].map((after) => next(cron(expression), after)),
      );
    process.env.TZ = 'UTC';
    const expected = instants();
    for (const tz of ['Pacific/Apia', 'America/New_York', 'Australia/Lord_Howe', BERLIN]) {
      process.env.TZ = tz;
      assert.notEqual(new Date(2026, 0, 1).getTime(), at('2026-01-01T00:00Z'), 'the machine did move');
      assert.deepEqual(instants(), expected, tz);
    }
  });
});

describe('what was due', () => {
  it('counts (from, until], to the cap, and finds the newest behind it', () => {
    const seconds = cron('* * * * * *');
    const [from, until] = [at('2016-01-01T00:00Z'), at('2026-11-21T08:00:00.500Z')];
    assert.deepEqual(dueInstants(seconds, from, until), { newest: until - 500, count: COUNT_CAP });
    assert.deepEqual(dueInstants(seconds, until - 5000, until), { newest: until - 500, count: 5 });
    assert.deepEqual(dueInstants(seconds, until, until), { newest: null, count: 0 });
    assert.deepEqual(dueInstants(seconds, until, until - 5000), { newest: null, count: 0 });
  });

  it('is exact just below the cap and at it', () => {
    const start = at('2026-01-01T00:00Z');
    const minutes = cron('* * * * *');
    for (const count of [COUNT_CAP - 1, COUNT_CAP]) {
      const until = start + count * 60_000;
      assert.deepEqual(dueInstants(minutes, start, until), { newest: until, count });
    }
    const beyond = start + (COUNT_CAP + 1) * 60_000;
    assert.deepEqual(dueInstants(minutes, start, beyond), { newest: beyond, count: COUNT_CAP });
  });
});

describe('every and at', () => {
  const every: Schedule = { type: 'every', every_ms: 600_000, anchor: 1_000_000 };

  it('every: first one span after the anchor, then at each multiple', () => {
    assert.equal(nextInstant(every, 0), 1_600_000);
    assert.equal(nextInstant(every, 1_000_000), 1_600_000);
    assert.equal(nextInstant(every, 1_599_999), 1_600_000);
    assert.equal(nextInstant(every, 1_600_000), 2_200_000);
  });

  it('every: what was due is plain arithmetic', () => {
    assert.deepEqual(dueInstants(every, 0, 1_599_999), { newest: null, count: 0 });
    assert.deepEqual(dueInstants(every, 0, 1_600_000), { newest: 1_600_000, count: 1 });
    assert.deepEqual(dueInstants(every, 1_600_000, 2_800_001), { newest: 2_800_000, count: 2 });
    assert.deepEqual(dueInstants(every, 1_600_000, 1_600_001), { newest: null, count: 0 });
    const second: Schedule = { type: 'every', every_ms: 1000, anchor: 0 };
    assert.deepEqual(dueInstants(second, 0, 1e12 + 1), { newest: 1e12, count: COUNT_CAP });
  });

  it('at: once', () => {
    const once: Schedule = { type: 'at', at: 5000 };
    assert.equal(nextInstant(once, 4999), 5000);
    assert.equal(nextInstant(once, 5000), null);
    assert.deepEqual(dueInstants(once, 4999, 5000), { newest: 5000, count: 1 });
    assert.deepEqual(dueInstants(once, 5000, 9000), { newest: null, count: 0 });
    assert.deepEqual(dueInstants(once, 0, 4999), { newest: null, count: 0 });
  });
});
