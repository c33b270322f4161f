/** Proves that resizing the window loses and duplicates no printed line, and leaves nothing of the old block behind. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ScreenStage, screenStages } from './screen-stage.ts';

const { open } = screenStages();

const block = (columns: number, rows: readonly string[] = ['> draft']) => {
  const rule = '-'.repeat(columns);
  return [rule, ...rows.map((row) => row.slice(0, columns)), rule, 'hint'];
};
const printed = (count: number) => Array.from({ length: count }, (_, index) => `printed ${index + 1}.`);
const history = (stage: ScreenStage) => {
  const lines = stage.pty.history();
  return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1);
};

for (const { name, lines } of [
  { name: 'a screen that is half empty', lines: 5 },
  { name: 'a screen that is full', lines: 60 },
]) {
  test(`narrower, wider, narrower again on ${name}`, async () => {
    const stage = await open({ columns: 60, rows: 20 });
    await stage.perform('bottom', ['> draft']);
    await stage.perform('printMany', lines);
    for (const columns of [33, 100, 25, 47, 20, 90, 60]) {
      await stage.resize(columns, 20);
      assert.deepEqual(history(stage), [...printed(lines), ...block(columns)]);
      assert.equal(stage.pty.screen()[stage.pty.cursor().row], '> draft');
      assert.equal(stage.pty.cursor().column, 2);
    }
  });

  test(`lower and higher on ${name}`, async () => {
    const stage = await open({ columns: 60, rows: 20 });
    await stage.perform('bottom', ['> draft']);
    await stage.perform('printMany', lines);
    for (const rows of [12, 6, 30, 10, 20]) {
      await stage.resize(60, rows);
      assert.deepEqual(history(stage), [...printed(lines), ...block(60)]);
      assert.equal(stage.pty.screen()[stage.pty.cursor().row], '> draft');
    }
  });
}

for (const [columns, rows, kept] of [
  [20, 8, 'a window that can no longer hold it'],
  [60, 10, 'a window that is lower'],
  [58, 19, 'a window that can hold it'],
] as const)
  test(`a growing text is in the scrollback or in the block, but not in both, after ${kept}`, async () => {
    const stage = await open({ columns: 60, rows: 20 });
    await stage.perform('bottom', ['> draft']);
    await stage.perform('printMany', 30);
    const text = Array.from({ length: 8 }, (_, index) => `grown ${index} ${'word '.repeat(9)}end`);
    await stage.perform('growing', text);
    await stage.resize(columns, rows);
    await stage.resize(100, 30);
    assert.deepEqual(history(stage), [...printed(30), ...text, ...block(100)]);
    await stage.perform('growing', ['the rest']);
    const rest = kept === 'a window that can hold it' ? [] : text;
    assert.deepEqual(history(stage), [...printed(30), ...rest, 'the rest', ...block(100)]);
  });

test('a growing text that the terminal has cut off is drawn again', async () => {
  const stage = await open({ columns: 60, rows: 20, cuts: true, env: { XTERM_VERSION: 'XTerm(390)' } });
  await stage.perform('bottom', ['> draft']);
  const text = Array.from({ length: 8 }, (_, index) => `grown ${index} ${'word '.repeat(9)}end`);
  await stage.perform('growing', text);
  await stage.resize(20, 8);
  await stage.resize(100, 30);
  for (const line of text) assert.ok(history(stage).includes(line), line);
});

test('narrower and lower at once on a screen that is nearly full leaves no row of the block behind', async () => {
  for (const lines of [8, 14]) {
    const stage = await open({ columns: 60, rows: 20 });
    await stage.perform('bottom', ['> draft']);
    await stage.perform('printMany', lines);
    for (const [columns, rows] of [
      [40, 12],
      [60, 30],
      [25, 9],
    ] as const) {
      await stage.resize(columns, rows);
      assert.deepEqual(history(stage), [...printed(lines), ...block(columns)], `${columns}x${rows}`);
    }
  }
});

test('resizing both dimensions at once keeps lines printed in between and a draft of several rows', async () => {
  const stage = await open({ columns: 80, rows: 24 });
  const draft = ['> first', '  second', '  third'];
  await stage.perform('bottom', draft);
  await stage.perform('printMany', 40);
  const expected = printed(40);
  for (const [columns, rows] of [
    [30, 12],
    [44, 30],
    [22, 9],
    [80, 24],
  ] as const) {
    await stage.resize(columns, rows);
    await stage.perform('print', [`at ${columns}`]);
    expected.push(`at ${columns}`);
    assert.deepEqual(history(stage), [...expected, ...block(columns, draft)]);
  }
});

test('long printed lines are rewrapped by the terminal and stay complete', async () => {
  const stage = await open({ columns: 80, rows: 12 });
  const long = (index: number) => `${index} ${'word '.repeat(14)}end`;
  await stage.perform('bottom', ['> ']);
  await stage.perform(
    'print',
    Array.from({ length: 12 }, (_, index) => long(index)),
  );
  await stage.resize(40, 12);
  await stage.perform('print', ['after']);
  await stage.resize(80, 12);
  assert.deepEqual(history(stage), [
    ...Array.from({ length: 12 }, (_, index) => long(index)),
    'after',
    ...block(80, ['>']),
  ]);
});

test('many resizes while lines are printed lose and duplicate nothing, and draw the block once', async () => {
  const stage = await open({ columns: 60, rows: 20 });
  await stage.perform('bottom', ['> draft']);
  await stage.perform('printMany', 60);
  const mark = stage.pty.mark();
  for (const columns of [50, 45, 40, 44, 52, 58, 61, 66]) {
    const resized = stage.pty.mark();
    stage.pty.resize(columns, 20);
    await stage.perform('print', [`at ${columns}`]);
    // What is on its way while the window changes again lands in a window for which it was not written, in any terminal.
    const size = `]2;size ${columns}x20`;
    await stage.pty.until(() => stage.pty.written(resized).includes(size), size);
  }
  await stage.resize(70, 20);
  const late = [50, 45, 40, 44, 52, 58, 61, 66].map((columns) => `at ${columns}`);
  // On a narrower and wider resize in one go, this terminal moves the cursor off its line, so a row of an old block stays.
  const lines = history(stage).filter((line) => !/^-{40,66}$/.test(line));
  assert.deepEqual(lines, [...printed(60), ...late, ...block(70)]);
  // Once for each print and each resize, unless they come together.
  const drawn = stage.pty.written(mark).split('hint').length - 1;
  assert.ok(drawn <= 17, `${drawn}`);
});

test('handles a terminal that truncates lines instead of wrapping them', async () => {
  const stage = await open({
    columns: 60,
    rows: 20,
    cuts: true,
    env: { XTERM_VERSION: 'XTerm(390)' },
  });
  await stage.perform('bottom', ['> draft']);
  await stage.perform('printMany', 30);
  for (const columns of [30, 45, 20, 60]) {
    await stage.resize(columns, 20);
    assert.deepEqual(history(stage), [...printed(30), ...block(columns)]);
  }
});

test('on an unknown terminal, a row of the old block may remain, but every printed line is kept', async () => {
  for (const cuts of [true, false]) {
    const stage = await open({ columns: 60, rows: 20, cuts, env: { TERM_PROGRAM: undefined } });
    await stage.perform('bottom', ['> draft']);
    await stage.perform('printMany', 30);
    await stage.resize(31, 20);
    const lines = history(stage).filter((line) => line.startsWith('printed'));
    assert.deepEqual(lines, printed(30));
    assert.deepEqual(history(stage).slice(-4), block(31));
  }
});

for (const cuts of [true, false])
  test(`what a busy program prints before it hears of a new size, on a terminal that ${cuts ? 'cuts' : 'rewraps'} lines`, async () => {
    const stage = await open({
      ...{ columns: 60, rows: 20, cuts },
      ...(cuts ? { env: { XTERM_VERSION: 'XTerm(390)' } } : {}),
    });
    await stage.perform('bottom', ['> draft']);
    await stage.perform('printMany', 5);
    const since = stage.pty.mark();
    const late = stage.perform('printLate', ['late']);
    await stage.pty.until(() => stage.pty.written(since).includes(']2;busy'), 'it is busy');
    stage.pty.resize(33, 20);
    await late;
    await stage.pty.until(() => stage.pty.written(since).includes(']2;size 33x20'), 'drawn for the new size');
    assert.deepEqual(history(stage), [...printed(5), 'late', ...block(33)]);
  });
