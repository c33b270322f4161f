/** Proves how durations are parsed and formatted, and that a formatted duration parses to the same value. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { durationText, parseDuration, readDuration } from '../../src/records/text/parse-duration.ts';

describe('durations', () => {
  const read: readonly (readonly [string, number])[] = [
    ['90s', 90_000],
    ['10m', 600_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['1w', 604_800_000],
    ['250ms', 250],
    ['1h30m', 5_400_000],
    ['1d2h3m4s5ms', 93_784_005],
    ['1.5h', 5_400_000],
    ['0s', 0],
    ['0.4ms', 0],
  ];
  for (const [text, ms] of read) it(`reads ${text}`, () => assert.equal(parseDuration(text), ms));

  const refused = [
    '',
    '90',
    's',
    '1x',
    '-5m',
    '+5m',
    '30m1h',
    '1h1h',
    '1h 30m',
    ' 1h',
    '1H',
    '1.h',
    '.5h',
    '1e3s',
    'Infinitys',
  ];
  for (const text of [...refused, `${'9'.repeat(400)}d`])
    it(`refuses "${text.slice(0, 20)}"`, () => assert.equal(parseDuration(text), null));

  it('writes what it reads', () => {
    assert.equal(durationText(600_000), '10m');
    assert.equal(durationText(90_000), '1m30s');
    assert.equal(durationText(0), '0s');
    assert.equal(durationText(604_800_000), '7d');
    fc.assert(fc.property(fc.nat({ max: 1e13 }), (ms) => assert.equal(parseDuration(durationText(ms)), ms)));
  });
});

it('reads durations in words, and refuses other units', () => {
  for (const [text, ms] of [
    ['2 minutes', 120_000],
    [' 1 hour 30 min ', 5_400_000],
    ['an hour', 3_600_000],
    ['1 day, 2 hrs and 5m', 93_900_000],
    ['1 0m', null],
    ['1 day', 86_400_000],
    ['90 sec', 90_000],
    ['1 week', 604_800_000],
    ['2 weeks and a day', null],
    ['2 weeks and 1 day', 1_296_000_000],
    ['250ms', 250],
    ['2 months', null],
    ['1 mile', null],
    ['soon', null],
    ['', null],
  ] as const)
    assert.equal(readDuration(text), ms, text);
});
