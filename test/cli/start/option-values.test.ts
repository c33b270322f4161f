// Proves which option values are valid, and that each option has one error message, whatever is wrong with its value.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readText } from '../../../src/cli/setup/standard-input.ts';
import { countOf, seconds, sinceDay, timeSpan, whole } from '../../../src/cli/start/option-values.ts';

const WRONG = ['', ' ', 'x', '-1', '-3', '1e400', 'NaN', 'Infinity', '0x10', '1,5', '1 2'];

for (const [name, read, good, bad, wanted] of [
  ['countOf', countOf, ['1', '20', ' 3 '], ['0', '1.5', ...WRONG], /^a whole number, 1 or more$/],
  ['whole', whole, ['0', '1', '20'], ['1.5', ...WRONG], /^a whole number, 0 or more$/],
  ['seconds', seconds, ['0', '1.5', '90'], ['.', '2000001', ...WRONG], /^a number of seconds, 0 to 2000000$/],
  ['timeSpan', timeSpan, ['90s', '12h'], WRONG, /^a span of time/],
  ['sinceDay', sinceDay, ['2026-01-31', '7d'], ['2026-13-01', '2026-1-1', ...WRONG], /^a day such as/],
] as const)
  it(name, () => {
    for (const value of good) assert.ok(read(value) >= 0, value);
    for (const value of bad) assert.throws(() => read(value), { message: wanted }, JSON.stringify(value));
  });

it('an empty value is reported, with the option that it was given for', async () => {
  await assert.rejects(readText('', 'prompt'), { hint: /^Give it as an argument, or -/ });
  await assert.rejects(readText(' ', 'task', '--task'), { hint: /^Give it with --task, or -/ });
});
