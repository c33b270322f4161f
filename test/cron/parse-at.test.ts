/**
 * Proves what a person or a model may write for a single moment, how times that clocks skip or repeat are handled, and that each refusal shows a valid example
 * with the moment at which it would be due.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { invalid, NOW, parse, refusal } from './parse-words.ts';

/** The evening before the clocks in Berlin are set back. */
const NIGHT = Date.parse('2025-10-25T22:00:00Z');

function at(text: string, now = NOW, tz?: string): string {
  const { schedule } = parse({ at: text, tz }, now);
  assert.equal(schedule.type, 'at');
  return new Date(schedule.type === 'at' ? schedule.at : 0).toISOString().replace('.000', '');
}

describe('at', () => {
  it('takes ISO 8601 with an offset, whatever the zone', () => {
    assert.equal(at('2025-11-23T09:00:00+01:00'), '2025-11-23T08:00:00Z');
    assert.equal(at('2025-11-23T09:00Z'), '2025-11-23T09:00:00Z');
    assert.equal(at('2025-11-23T09:00:30.250Z'), '2025-11-23T09:00:30.250Z');
    assert.equal(at('2025-11-23T09:00+0545', NOW, 'America/New_York'), '2025-11-23T03:15:00Z');
    assert.equal(at('2025-11-23 09:00-05'), '2025-11-23T14:00:00Z');
  });

  it('takes wall times of the zone', () => {
    assert.equal(at('2025-11-23T09:00'), '2025-11-23T08:00:00Z');
    assert.equal(at('2025-11-23T09:00:30'), '2025-11-23T08:00:30Z');
    assert.equal(at('2025-11-23 09:00'), '2025-11-23T08:00:00Z');
    assert.equal(at('2025-06-23 09:00'), '2025-06-23T07:00:00Z');
    assert.equal(at('2028-02-29 09:00', NOW, 'UTC'), '2028-02-29T09:00:00Z');
    assert.equal(at('2025-11-23 09:00', NOW, 'Asia/Kathmandu'), '2025-11-23T03:15:00Z');
  });

  it('takes a time of day: the next one', () => {
    assert.equal(at('11:01'), '2025-03-28T10:01:00Z');
    assert.equal(at('11:00'), '2025-03-29T10:00:00Z');
    assert.equal(at('9:30'), '2025-03-29T08:30:00Z');
    assert.equal(at('00:30', NOW, 'Pacific/Apia'), '2025-03-28T11:30:00Z');
    assert.equal(at('03:00', Date.parse('2025-03-29T12:00Z')), '2025-03-30T01:00:00Z');
  });

  it('takes a span from now', () => {
    assert.equal(at('+5m'), '2025-03-28T10:05:00Z');
    assert.equal(at('+1h30m'), '2025-03-28T11:30:00Z');
    assert.equal(at('in 5 minutes'), '2025-03-28T10:05:00Z');
    assert.equal(at('1 hour'), '2025-03-28T11:00:00Z');
    assert.equal(at('+1d'), '2025-03-29T10:00:00Z');
  });

  it('in a gap: the first moment after it, and says so', () => {
    const expected =
      '2025-03-30 02:30 Europe/Berlin does not exist, the clock is set forward over it: due 2025-03-30 03:00 Europe/Berlin (01:00Z)';
    const full = parse({ at: '2025-03-30 02:30' });
    assert.deepEqual(full, {
      schedule: { type: 'at', at: Date.parse('2025-03-30T01:00Z') },
      notes: [expected],
    });
    assert.deepEqual(parse({ at: '02:30' }, Date.parse('2025-03-29T12:00Z')), full);
  });

  it('of a time that comes twice: the first that is still to come, and says so', () => {
    const twice = '2025-10-26 02:30 Europe/Berlin comes twice, the clock is set back over it: due the';
    const first = { type: 'at', at: Date.parse('2025-10-26T00:30Z') } as const;
    const second = { type: 'at', at: Date.parse('2025-10-26T01:30Z') } as const;
    for (const text of ['2025-10-26 02:30', '02:30']) {
      const early = parse({ at: text }, NIGHT);
      assert.deepEqual(early.schedule, first);
      assert.deepEqual(early.notes, [`${twice} first, 2025-10-26 02:30 Europe/Berlin (00:30Z)`]);
      const late = parse({ at: text }, first.at);
      assert.deepEqual(late.schedule, second);
      assert.deepEqual(late.notes, [
        `${twice} second, the first is past, 2025-10-26 02:30 Europe/Berlin (01:30Z)`,
      ]);
    }
    assert.equal(at('02:30', second.at), '2025-10-27T01:30:00Z');
    assert.match(refusal({ at: '2025-10-26 02:30' }, second.at).message, /is past/);
  });

  it('does not mention a time that occurs once', () => {
    assert.deepEqual(parse({ at: '2025-11-23 09:00' }).notes, []);
    assert.deepEqual(parse({ at: '2025-10-26T02:30+02:00' }).notes, []);
  });

  const nine = 'For example "2025-03-29 09:00": due 2025-03-29 09:00 Europe/Berlin (08:00Z)';
  const date = 'Months are 01-12, days 01 to the last of the month';
  it('refuses invalid dates', () => {
    invalid(
      { at: '2026-02-30 09:00' },
      'at "2026-02-30 09:00" is not a valid date',
      `${date}. For example "2026-03-01 09:00": due 2026-03-01 09:00 Europe/Berlin (08:00Z)`,
    );
    invalid(
      { at: '2025-02-30T10:30Z' },
      'at "2025-02-30T10:30Z" is not a valid date',
      `${date}. For example "2025-03-29 10:30": due 2025-03-29 10:30 Europe/Berlin (09:30Z)`,
    );
    for (const text of ['2026-13-01 09:00', '2026-00-10 09:00'])
      invalid({ at: text }, `at "${text}" is not a valid date`, `${date}. ${nine}`);
    assert.match(refusal({ at: '2026-04-31 09:00' }).hint, /"2026-05-01 09:00"/);
    assert.match(refusal({ at: '2026-12-32 09:00' }).hint, /"2027-01-01 09:00"/);
    assert.match(refusal({ at: '2027-02-29 09:00' }).hint, /"2027-03-01 09:00"/);
  });

  it('refuses what is past, now included', () => {
    const past = (text: string, example: string): void =>
      invalid(
        { at: text },
        `at "${text}" is past: it is 2025-03-28 11:00 Europe/Berlin (10:00Z)`,
        `Write a time that is still to come. For example ${example}`,
      );
    past('2025-01-01 09:00', '"2025-03-29 09:00": due 2025-03-29 09:00 Europe/Berlin (08:00Z)');
    past('2025-03-28 11:00', '"2025-03-29 11:00": due 2025-03-29 11:00 Europe/Berlin (10:00Z)');
    past('2025-03-28T10:00Z', '"2025-03-29 11:00": due 2025-03-29 11:00 Europe/Berlin (10:00Z)');
    past('0050-01-01 12:00', '"2025-03-28 12:00": due 2025-03-28 12:00 Europe/Berlin (11:00Z)');
    past('+0s', '"+10m": due 2025-03-28 11:10 Europe/Berlin (10:10Z)');
  });

  it('refuses what is too far', () => {
    invalid(
      { at: '9999-12-31 09:00' },
      'at "9999-12-31 09:00" is too far ahead',
      `The last year is 9999. ${nine}`,
    );
    assert.match(refusal({ at: '+9999999999999d' }).message, /is too far ahead/);
  });

  it('refuses invalid times of day', () => {
    const hours = 'Hours are 00-23, minutes and seconds 00-59';
    for (const text of ['24:00', '12:60', '12:00:60', '2025-11-23 25:00', '2025-11-23T09:00+25:00'])
      invalid({ at: text }, `at "${text}" is not a valid time of day`, `${hours}. ${nine}`);
  });

  it('refuses everything else', () => {
    const forms = 'Write "YYYY-MM-DD HH:MM", ISO 8601, "HH:MM" or "+1h30m"';
    for (const text of ['tomorrow', '', '2025', '23.11.2025 09:00', '2025-11-23 nine'])
      invalid({ at: text }, `at "${text}" is not a valid time`, `${forms}. ${nine}`);
    invalid({ at: '2025-11-23' }, 'at "2025-11-23" has no time of day', `${forms}. ${nine}`);
    invalid({ at: '09:00Z' }, 'at "09:00Z" has no date', `${forms}. ${nine}`);
    for (const text of ['+', '+5', '+5x', '+-5m'])
      invalid(
        { at: text },
        `at "${text}" is not a valid time span`,
        `${forms}. For example "+10m": due 2025-03-28 11:10 Europe/Berlin (10:10Z)`,
      );
  });
});
