/**
 * Proves what a person or a model may write for a schedule, and that each refusal names the mistake and shows a valid example with the moment at which it would
 * be due.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nextInstant } from '../../src/cron/schedule/next-instant.ts';
import { BERLIN, invalid, NOW, parse, refusal } from './parse-words.ts';

describe('which options go together', () => {
  const hint = 'Choose one: cron "0 9 * * 1-5", every 10m, or at "2030-01-31 09:00"';
  const needs = 'a schedule needs exactly one of cron, every and at';
  it('exactly one of cron, every and at', () => {
    assert.deepEqual(refusal({}), { code: 'E_USAGE', message: `${needs}: none is given`, hint });
    assert.deepEqual(refusal({ tz: BERLIN }), { code: 'E_USAGE', message: `${needs}: none is given`, hint });
    const two = `${needs}: cron and at are given`;
    assert.deepEqual(refusal({ cron: '* * * * *', at: '09:00' }), { code: 'E_USAGE', message: two, hint });
    assert.equal(
      refusal({ cron: '* * * * *', at: '09:00', every: '1h' }).message,
      `${needs}: cron and every and at are given`,
    );
  });

  it('no zone with every', () => {
    assert.deepEqual(refusal({ every: '10m', tz: 'UTC' }), {
      code: 'E_USAGE',
      message: 'a time zone needs cron or at: every counts elapsed time',
      hint: 'Leave out tz, or write a cron expression such as "*/10 * * * *" in UTC',
    });
  });

  it('nothing of endless length', () => {
    for (const name of ['cron', 'every', 'at'] as const)
      assert.equal(refusal({ [name]: '1'.repeat(501) }).message, `${name} has 501 characters`);
    assert.equal(refusal({ cron: '* * * * *', tz: 'x'.repeat(1e6) }).message, 'tz has 1000000 characters');
  });
});

describe('zones', () => {
  it('the one that is named, or the default', () => {
    const cron = '0 9 * * *';
    assert.deepEqual(parse({ cron }).schedule, { type: 'cron', expression: cron, tz: BERLIN });
    assert.deepEqual(parse({ cron, tz: 'Asia/Kathmandu' }).schedule, {
      type: 'cron',
      expression: cron,
      tz: 'Asia/Kathmandu',
    });
    assert.deepEqual(parse({ cron, tz: ' america/new_york ' }).schedule, {
      type: 'cron',
      expression: cron,
      tz: 'America/New_York',
    });
    for (const tz of ['UTC', 'Asia/Calcutta', 'Asia/Kolkata'])
      assert.deepEqual(parse({ cron, tz }).schedule, { type: 'cron', expression: cron, tz });
  });

  const near = (tz: string, zones: string, first: string): void =>
    invalid(
      { cron: '0 9 * * *', tz },
      `no time zone is called "${tz}"`,
      `Did you mean ${zones}? Write an IANA name, for example ${first}`,
    );
  it('an unknown one is refused with the nearest names', () => {
    near('Europe/Berln', BERLIN, BERLIN);
    near('berlin', BERLIN, BERLIN);
    near('new york', 'America/New_York', 'America/New_York');
    near('Lord Howe', 'Australia/Lord_Howe', 'Australia/Lord_Howe');
    assert.match(refusal({ at: '09:00', tz: 'Europe/Pariss' }).hint, /^Did you mean Europe\/Paris/);
  });

  it('one that resembles none is refused with examples', () => {
    for (const tz of ['Mars/Olympus', 'CEST', '+02:00', ''])
      invalid(
        { cron: '0 9 * * *', tz },
        `no time zone is called "${tz}"`,
        'Write an IANA name, for example Europe/Berlin, America/New_York or UTC',
      );
  });
});

describe('cron', () => {
  const accepted = {
    '0 9 * * 1-5': '0 9 * * 1-5',
    '  0   9 *\t* 1-5\n': '0 9 * * 1-5',
    '30 0 9 * * *': '30 0 9 * * *',
    '0 9 L,15W * MON#2,FRIL': '0 9 L,15W * MON#2,FRIL',
    '0 9 13 jan-mar +fri': '0 9 13 jan-mar +fri',
    '0 0 29 2 *': '0 0 29 2 *',
    '@daily': '0 0 * * *',
    ' @Hourly ': '0 * * * *',
    '@weekly': '0 0 * * SUN',
    '@monthly': '0 0 1 * *',
    '@yearly': '0 0 1 1 *',
  };
  for (const [text, expression] of Object.entries(accepted)) {
    it(`takes "${text.trim()}"`, () => {
      const { schedule } = parse({ cron: text });
      assert.deepEqual(schedule, { type: 'cron', expression, tz: BERLIN });
      assert.ok(nextInstant(schedule, NOW));
    });
  }

  const lists = 'as a list 1,3, a range 1-5 or a step */2 or 1-9/2';
  const usual = 'For example "0 9 * * 1-5": due next 2025-03-31 09:00 Europe/Berlin (07:00Z)';
  const wrong = (cron: string, what: string, allowed: string, example: string): void => {
    const hint = `Allowed for the ${allowed}; ${lists}. For example ${example}`;
    it(`refuses "${cron}"`, () => invalid({ cron }, `cron "${cron}": the ${what}`, hint));
  };
  const DAYS =
    'day of the month: 1-31, L (the last), 15W (the workday nearest to the 15th) or LW (the last workday)';
  const WEEK =
    'weekday: 0-7 or SUN-SAT (0 and 7 are Sunday), MON#2 (the second Monday) or FRI#L (the last Friday)';
  wrong(
    '0 25 * * *',
    'hour "25" is not allowed',
    'hour: 0-23',
    '"0 9 * * *": due next 2025-03-29 09:00 Europe/Berlin (08:00Z)',
  );
  wrong(
    '60 * * * *',
    'minute "60" is not allowed',
    'minute: 0-59',
    '"0 * * * *": due next 2025-03-28 12:00 Europe/Berlin (11:00Z)',
  );
  wrong(
    '61 0 9 * * *',
    'second "61" is not allowed',
    'second: 0-59',
    '"0 0 9 * * *": due next 2025-03-29 09:00 Europe/Berlin (08:00Z)',
  );
  wrong(
    '0 9 0 * *',
    'day of the month "0" is not allowed',
    DAYS,
    '"0 9 1 * *": due next 2025-04-01 09:00 Europe/Berlin (07:00Z)',
  );
  wrong(
    '0 9 * foo *',
    'month "foo" is not allowed',
    'month: 1-12 or JAN-DEC',
    '"0 9 * * *": due next 2025-03-29 09:00 Europe/Berlin (08:00Z)',
  );
  wrong('0 9 * * 8', 'weekday "8" is not allowed', WEEK, usual.slice(12));
  wrong('0 9 * * MON#6', 'weekday "MON#6" is not allowed', WEEK, usual.slice(12));
  wrong('0 9 * * FRI-MON', 'weekday "FRI-MON" runs backwards', WEEK, usual.slice(12));
  wrong(
    '5/10 * * * *',
    'minute "5/10" has a step without a range',
    'minute: 0-59',
    '"0 * * * *": due next 2025-03-28 12:00 Europe/Berlin (11:00Z)',
  );
  wrong(
    '*/0 * * * *',
    'minute "*/0" is not allowed',
    'minute: 0-59',
    '"0 * * * *": due next 2025-03-28 12:00 Europe/Berlin (11:00Z)',
  );
  wrong(
    'a b c d e',
    'minute "a" is not allowed',
    'minute: 0-59',
    '"0 9 1 * 1-5": due next 2025-03-31 09:00 Europe/Berlin (07:00Z)',
  );
  wrong(
    '2030-01-01 00:00 * * *',
    'minute "2030-01-01" is not allowed',
    'minute: 0-59',
    '"0 9 * * *": due next 2025-03-29 09:00 Europe/Berlin (08:00Z)',
  );
  // With the hour corrected it would still never be due, so the usual example is shown.
  wrong('0 25 31 2 *', 'hour "25" is not allowed', 'hour: 0-23', usual.slice(12));

  it('refuses another number of fields', () => {
    const shape = 'Write minute, hour, day of the month, month and weekday; seconds may come first';
    invalid({ cron: '0 9 * *' }, 'cron "0 9 * *" has 4 fields, not 5 or 6', `${shape}. ${usual}`);
    invalid({ cron: '' }, 'cron "" has 0 fields, not 5 or 6', `${shape}. ${usual}`);
    invalid(
      { cron: '2030-01-01T00:00' },
      'cron "2030-01-01T00:00" has 1 field, not 5 or 6',
      `${shape}. ${usual}`,
    );
    const year = `${shape}; a year cannot be given, for one date there is at. ${usual}`;
    invalid({ cron: '0 0 9 * * 1 2027' }, 'cron "0 0 9 * * 1 2027" has 7 fields, not 5 or 6', year);
  });

  it('refuses unknown nicknames', () => {
    const known = 'Known are @hourly, @daily, @weekly, @monthly and @yearly';
    for (const cron of ['@reboot', '@nope', '@daily 9'])
      invalid({ cron }, `cron "${cron}" is not known`, `${known}. ${usual}`);
  });

  it('refuses expressions that are never due', () => {
    invalid(
      { cron: '0 9 31 2 *' },
      'cron "0 9 31 2 *" never matches any date',
      'The last day of a month is L. For example "0 9 L 2 *": due next 2026-02-28 09:00 Europe/Berlin (08:00Z)',
    );
    assert.equal(
      refusal({ cron: '0 0 9 30 2 +MON' }).hint,
      'The last day of a month is L. For example "0 0 9 L 2 +MON": due next 2033-02-28 09:00 Europe/Berlin (08:00Z)',
    );
  });
});

describe('every', () => {
  const accepted = {
    '90s': 90_000,
    '10m': 600_000,
    '2h': 7_200_000,
    '1d': 86_400_000,
    '1h30m': 5_400_000,
    '1s': 1000,
    '366d': 31_622_400_000,
    ' 10m ': 600_000,
  };
  for (const [every, every_ms] of Object.entries(accepted)) {
    it(`takes "${every}"`, () => {
      assert.deepEqual(parse({ every }).schedule, { type: 'every', every_ms, anchor: NOW });
    });
  }

  const refused = {
    '999ms': 'is too short',
    '0s': 'is too short',
    '367d': 'is too long',
    '366d1s': 'is too long',
    '90': 'is not a valid time span',
    '': 'is not a valid time span',
    '-5m': 'is not a valid time span',
    '30m1h': 'is not a valid time span',
    'ten minutes': 'is not a valid time span',
  };
  for (const [every, wrong] of Object.entries(refused)) {
    it(`refuses "${every}"`, () =>
      invalid(
        { every },
        `every "${every}" ${wrong}`,
        'Write a number with s, m, h or d, from 1s to 366d, also 1h30m. For example "10m": due next 2025-03-28 11:10 Europe/Berlin (10:10Z)',
      ));
  }
});
