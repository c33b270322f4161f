/** Proves which values `--limit` accepts, and that a time without a unit means seconds. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseLimits } from '../../../src/cli/run/limit-option.ts';
import { CoppiceError } from '../../../src/records/coppice-error.ts';

describe('limits', () => {
  it('reads numbers, money and none', () => {
    assert.deepEqual(parseLimits(['children=100', 'cost=1.50', 'tokens=none']), {
      children: 100,
      cost_usd: 1.5,
      tokens: null,
    });
  });

  const times: readonly (readonly [string, number])[] = [
    ['90', 90_000],
    ['1.5', 1500],
    ['0', 0],
    ['90s', 90_000],
    ['30m', 1_800_000],
    ['2h', 7_200_000],
    ['1.5h', 5_400_000],
    ['250ms', 250],
    ['1h30m', 5_400_000],
  ];
  for (const [text, run_ms] of times)
    it(`reads run=${text}`, () => assert.deepEqual(parseLimits([`run=${text}`]), { run_ms }));

  for (const text of [
    'run=',
    'run=abc',
    'run=-5m',
    'run=1.',
    'run=.5',
    'run=1.2.3',
    'run=none',
    'run=90 s',
    'depth=1.5',
    'live=x',
  ])
    it(`refuses ${text}`, () =>
      assert.throws(
        () => parseLimits([text]),
        (error) =>
          error instanceof CoppiceError &&
          error.code === 'E_USAGE' &&
          /is not a valid value for the limit/.test(error.message),
      ));
});
