/**
 * Proves in tmux, a terminal that rewraps every line, what the in-memory terminal cannot show: no line is lost or duplicated, and no row of an old block
 * stays.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasTmux, openTmux } from './tmux.ts';

const skip = hasTmux() ? false : 'tmux is not installed';
const printed = (count: number) => Array.from({ length: count }, (_, index) => `printed ${index + 1}.`);
const block = (columns: number) => {
  const rule = '-'.repeat(columns);
  return [rule, '> draft', '  of two rows', rule, 'hint'];
};

test('keeps a block at the top of the screen and lines printed above it through windows of many sizes', {
  skip,
}, async (t) => {
  const tmux = await openTmux('sizes', 60, 20);
  t.after(() => tmux.end());
  await tmux.perform('bottom', ['> draft', '  of two rows']);
  await tmux.perform('printMany', 30);
  assert.deepEqual(tmux.history(), [...printed(30), ...block(60)]);
  for (const [columns, rows] of [
    [33, 20],
    [100, 20],
    [25, 20],
    [47, 9],
    [20, 24],
    [60, 30],
  ] as const) {
    await tmux.resize(columns, rows);
    assert.deepEqual(tmux.history(), [...printed(30), ...block(columns)], `${columns}x${rows}`);
  }
});

test('narrower and lower at once on a screen that is half empty', { skip }, async (t) => {
  const tmux = await openTmux('half', 60, 20);
  t.after(() => tmux.end());
  await tmux.perform('bottom', ['> draft', '  of two rows']);
  await tmux.perform('printMany', 8);
  for (const [columns, rows] of [
    [33, 11],
    [60, 24],
    [25, 9],
  ] as const) {
    await tmux.resize(columns, rows);
    assert.deepEqual(tmux.history(), [...printed(8), ...block(columns)], `${columns}x${rows}`);
  }
});

test('a window resized while the alternate screen is shown', { skip }, async (t) => {
  const tmux = await openTmux('full', 60, 20);
  t.after(() => tmux.end());
  await tmux.perform('bottom', ['> draft', '  of two rows']);
  await tmux.perform('printMany', 30);
  for (const [columns, rows] of [
    [35, 15],
    [80, 30],
    [30, 10],
  ] as const) {
    await tmux.perform('full', true);
    await tmux.resize(columns, rows);
    await tmux.perform('full', false);
    await tmux.perform('bottom', ['> draft', '  of two rows']);
    assert.deepEqual(tmux.history(), [...printed(30), ...block(columns)], `${columns}x${rows}`);
  }
});
