// Proves that the limits which providers state in the headers of their answers are read in each of their forms, and that nonsense is none.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type ToldLimit, toldLimits } from '../../../src/models/gate/rate-headers.ts';

const NOW = Date.parse('2026-11-21T10:00:00Z');
const told = (
  kind: ToldLimit['kind'],
  limit: number,
  remaining: number,
  reset_ms: number | null,
  is_coarse = true,
) => ({
  ...{ kind, limit, remaining, reset_ms, is_coarse },
});

it('OpenAI: durations', () => {
  const headers = {
    'x-ratelimit-limit-requests': '60',
    'x-ratelimit-remaining-requests': '59',
    'x-ratelimit-reset-requests': '1s',
    'x-ratelimit-limit-tokens': '150000',
    'x-ratelimit-remaining-tokens': '149984',
    'x-ratelimit-reset-tokens': '6m0.5s',
  };
  assert.deepEqual(toldLimits(headers, NOW), [
    told('requests', 60, 59, 1_000),
    told('tokens', 150_000, 149_984, 360_500, false),
  ]);
});

it('Anthropic: dates, and input and output tokens apart', () => {
  const headers = {
    'anthropic-ratelimit-requests-limit': '4000',
    'anthropic-ratelimit-requests-remaining': '3999',
    'anthropic-ratelimit-requests-reset': '2026-11-21T10:00:01Z',
    'anthropic-ratelimit-input-tokens-limit': '2000000',
    'anthropic-ratelimit-input-tokens-remaining': '1000000',
    'anthropic-ratelimit-input-tokens-reset': '2026-11-21T10:00:30Z',
    'anthropic-ratelimit-output-tokens-limit': '400000',
    'anthropic-ratelimit-output-tokens-remaining': '0',
    'anthropic-ratelimit-output-tokens-reset': '2026-11-21T10:01:00Z',
  };
  assert.deepEqual(toldLimits(headers, NOW), [
    told('requests', 4_000, 3_999, 1_000),
    told('input tokens', 2_000_000, 1_000_000, 30_000),
    told('output tokens', 400_000, 0, 60_000),
  ]);
});

it('others: seconds, and the time since the epoch in seconds or milliseconds', () => {
  for (const [reset, ms] of [
    ['12', 12_000],
    [`${NOW / 1_000 + 7}`, 7_000],
    [`${NOW + 7_000}`, 7_000],
    ['soon', null],
    [undefined, null],
  ] as const) {
    const headers = { 'x-ratelimit-limit': '20', 'x-ratelimit-remaining': '3', 'x-ratelimit-reset': reset };
    assert.deepEqual(toldLimits(headers, NOW), [told('requests', 20, 3, ms)], reset);
  }
});

it('no limit: nothing stated, no remainder, zero, a negative number, words', () => {
  for (const [limit, remaining] of [
    [undefined, '3'],
    ['20', undefined],
    ['0', '0'],
    ['20', '-1'],
    ['many', 'some'],
  ])
    assert.deepEqual(toldLimits({ 'x-ratelimit-limit': limit, 'x-ratelimit-remaining': remaining }, NOW), []);
});
