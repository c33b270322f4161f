/** Proves what a person sees of the inline screen: cells, cursor and scrollback of a terminal behind a real pty, and the bytes that were written to it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ScreenStage, screenStages } from './screen-stage.ts';

const { open } = screenStages();

const shown = (stage: ScreenStage) => stage.pty.screen().join('\n').trimEnd().split('\n');

test('a block grows and shrinks below printed lines, and the terminal cursor is at the caret', async () => {
  const stage = await open();
  await stage.perform('print', ['one', 'two']);
  await stage.perform('draw', { lines: ['----', '> ab', 'hint'], cursor: { row: 1, column: 4 } });
  assert.deepEqual(shown(stage), ['one', 'two', '----', '> ab', 'hint']);
  assert.deepEqual(stage.pty.cursor(), { row: 3, column: 4 });
  await stage.perform('draw', { lines: ['row', '----', '> ab', 'hint'], cursor: { row: 2, column: 2 } });
  assert.deepEqual(shown(stage), ['one', 'two', 'row', '----', '> ab', 'hint']);
  assert.deepEqual(stage.pty.cursor(), { row: 4, column: 2 });
  await stage.perform('draw', { lines: ['> ab'], cursor: { row: 0, column: 0 } });
  assert.deepEqual(shown(stage), ['one', 'two', '> ab']);
  assert.deepEqual(stage.pty.cursor(), { row: 2, column: 0 });
  await stage.perform('draw', { lines: [], cursor: null });
  assert.deepEqual(shown(stage), ['one', 'two']);
  assert.equal(stage.pty.modeOn(25), false);
});

test('printing while a block is live puts lines above it and keeps the caret', async () => {
  const stage = await open({ rows: 6 });
  await stage.perform('draw', { lines: ['----', '> ab'], cursor: { row: 1, column: 3 } });
  for (const line of ['a', 'b', 'c', 'd', 'e', 'f']) await stage.perform('print', [line]);
  assert.deepEqual(stage.pty.history(), ['a', 'b', 'c', 'd', 'e', 'f', '----', '> ab']);
  assert.deepEqual(stage.pty.cursor(), { row: 5, column: 3 });
  assert.equal(stage.pty.modeOn(25), true);
});

test('the scrollback has all of 10,000 printed lines, each once and in order', async () => {
  const stage = await open();
  await stage.perform('draw', { lines: ['----', '> '], cursor: { row: 1, column: 2 } });
  await stage.perform('printMany', 9_900);
  for (let line = 0; line < 100; line += 1) await stage.perform('print', [`late ${line}`]);
  const expected = [
    ...Array.from({ length: 9_900 }, (_, index) => `printed ${index + 1}.`),
    ...Array.from({ length: 100 }, (_, index) => `late ${index}`),
  ];
  assert.deepEqual(stage.pty.history(), [...expected, '----', '>']);
});

test('each call is one synchronized update that writes only changed lines and clears nothing', async () => {
  const stage = await open();
  await stage.perform('printMany', 50);
  const lines = Array.from({ length: 12 }, (_, index) => `row ${index} stands`);
  await stage.perform('draw', { lines, cursor: { row: 11, column: 0 } });
  const changed = lines.map((line, index) => (index === 4 ? 'row 4 moved' : line));
  const written = await stage.perform('draw', { lines: changed, cursor: { row: 11, column: 0 } });
  assert.equal(written.split('\x1b[?2026h').length, 2);
  assert.ok(written.startsWith('\x1b[?2026h') && written.endsWith('\x1b[?2026l'));
  assert.match(written, /row 4 moved/);
  assert.doesNotMatch(written, /stands/);
  assert.equal(shown(stage).at(-8), 'row 4 moved');
  assert.equal(await stage.perform('draw', { lines: changed, cursor: { row: 11, column: 0 } }), '');
  const moved = await stage.perform('draw', { lines: changed, cursor: { row: 10, column: 3 } });
  assert.doesNotMatch(moved, /row/);
  assert.deepEqual(stage.pty.cursor(), { row: 22, column: 3 });
  await stage.perform('print', ['above']);
  await stage.perform('draw', { lines: ['last'], cursor: null });
  for (const clearing of ['\x1b[2J', '\x1b[3J']) assert.ok(!stage.pty.written().includes(clearing));
});

test('a block higher than the screen shows its lower end, where the input is', async () => {
  const stage = await open({ rows: 5 });
  await stage.perform('print', ['kept']);
  const lines = Array.from({ length: 9 }, (_, index) => `line ${index}`);
  await stage.perform('draw', { lines, cursor: { row: 7, column: 1 } });
  assert.deepEqual(stage.pty.history(), ['kept', ...lines.slice(4)]);
  assert.deepEqual(stage.pty.cursor(), { row: 3, column: 1 });
  await stage.perform('draw', { lines: lines.slice(0, 2), cursor: null });
  assert.deepEqual(stage.pty.history(), ['kept', 'line 0', 'line 1', '', '', '']);
});

test('wide characters keep the columns aligned, and a line that is too wide is truncated', async () => {
  const stage = await open({ columns: 10 });
  await stage.perform('draw', {
    lines: ['日本語日本語日本語', '\x1b[31m0123456789abc', '👨‍👩‍👧 👍🏽', '> 日'],
    cursor: { row: 3, column: 4 },
  });
  const [cjk, long, , input] = shown(stage);
  assert.equal(cjk, '日本語日本');
  assert.equal(long, '0123456789');
  assert.equal(input, '> 日');
  assert.deepEqual(stage.pty.cursor(), { row: 3, column: 4 });
  await stage.perform('print', ['plain']);
  assert.equal(shown(stage)[0], 'plain');
});
