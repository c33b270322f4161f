// Proves that the dashboard writes amounts as people read them.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { count, dollars, duration } from '../../../web/data/amounts.ts';

it('counts have a unit of the size that they are rounded to', () => {
  assert.deepEqual(
    [0, 999, 1_000, 9_949, 9_950, 999_499, 999_500, 1_280_000, 999_949_999, 999_950_000, 1_284_000_000].map(
      count,
    ),
    ['0', '999', '1.0k', '9.9k', '10k', '999k', '1.0M', '1.3M', '999.9M', '1.00B', '1.28B'],
  );
});

it('dollars have cents, and thousands are apart', () => {
  assert.deepEqual([null, 0, 0.0042, 0.42, 1_234.5].map(dollars), ['', '', '$0.0042', '$0.42', '$1,234.50']);
});

it('what is little is not said to be nothing', () => {
  assert.deepEqual([0.000004, 0.00005, 0.0001].map(dollars), ['<$0.0001', '<$0.0001', '$0.0001']);
  assert.deepEqual([0, 0.2, 3, 49, 50, 12_000].map(duration), ['0.0s', '1ms', '3ms', '49ms', '0.1s', '12s']);
  const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];
  assert.deepEqual(
    [minute, 2 * hour, hour + minute, day, day + 2 * hour].map(duration),
    ['1m', '2h', '1h 1m', '1d', '1d 2h'],
    'without a zero behind',
  );
});
