/**
 * Proves that on a terminal that reports its cursor no printed line is lost and no row of an old block stays, after any resize; and that a late or
 * missing report loses no printed line.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import xterm from '@xterm/headless';
import { InlinePainter } from '../../../src/tui/terminal/inline-painter.ts';
import { KeySource } from '../../../src/tui/terminal/key-source.ts';
import type { TerminalSize } from '../../../src/tui/terminal/reflow.ts';

const sizeOf = (columns: number, rows: number): TerminalSize => ({ columns, rows, reflow: 'xterm.js' });
const START = sizeOf(60, 20);
/** Sizes to which the window changes from 60×20. */
const SIZES = [33, 16, 90].flatMap((columns) => [20, 13, 28].map((rows) => sizeOf(columns, rows)));

const block = ({ columns }: TerminalSize, drafts: number) => {
  const rule = '-'.repeat(columns - 1);
  const draft = Array.from({ length: drafts }, (_, index) => `> draft ${index}`);
  return { lines: [rule, ...draft, rule, 'hint'], cursor: { row: drafts, column: 2 } };
};
const printed = (count: number) =>
  Array.from({ length: count }, (_, index) => `${index}. ${'word '.repeat((index * 7) % 12)}end`);

/** Returns every line, scrollback included, with lines that the terminal has wrapped joined again. */
function lines(terminal: xterm.Terminal): string[] {
  const { active } = terminal.buffer;
  const found: string[] = [];
  for (let row = 0; row < active.length; row += 1) {
    const line = active.getLine(row);
    const text = line?.translateToString(true) ?? '';
    if (line?.isWrapped) found.push(`${found.pop()}${text}`);
    else found.push(text);
  }
  return found.slice(0, found.findLastIndex((line) => line !== '') + 1).map((line) => line.trimEnd());
}

interface Course {
  readonly count: number;
  readonly drafts: number;
  /** Successive sizes of the window; the block is drawn for the last. */
  readonly through: readonly TerminalSize[];
  /** When the terminal's cursor report arrives. */
  readonly answer: 'at once' | 'after more was printed' | 'never';
}

/** Prints, resizes the window and draws again; returns the actual and the expected content of the terminal. */
async function played({ count, drafts, through, answer }: Course) {
  const to = through.at(-1) ?? START;
  const terminal = new xterm.Terminal({
    cols: START.columns,
    rows: START.rows,
    scrollback: 200,
    allowProposedApi: true,
  });
  const painter = new InlinePainter();
  const answers: string[] = [];
  const ignore = () => assert.fail('an answer became something else');
  const keys = new KeySource(
    {
      ...{ onInput: ignore, onFocus: ignore, onKeyboard: ignore, onName: ignore, onBackground: ignore },
      onAnswered: ignore,
      onCursor: (row) => painter.placed(row),
    },
    {},
  );
  terminal.onData((data) => answers.push(data));
  const write = (text: string) => new Promise<void>((resolve) => terminal.write(text, resolve));
  const hear = () => keys.feed(answers.splice(0).join(''));
  const all = printed(count);
  const early = all.slice(0, count / 2);
  await write(painter.askPlace(START));
  if (answer === 'at once') hear();
  await write(painter.draw(block(START, drafts + 2), START));
  await write(painter.print(early, START));
  await write(painter.draw(block(START, drafts), START));
  await write(painter.print(all.slice(early.length), START));
  if (answer === 'after more was printed') hear();
  for (const size of through) {
    terminal.resize(size.columns, size.rows);
    painter.resized(size);
  }
  await write(painter.draw(block(to, drafts), to));
  const got = lines(terminal);
  terminal.dispose();
  return { got, expected: [...all, ...block(to, drafts).lines] };
}

for (const answer of ['at once', 'after more was printed'] as const)
  test(`one change of the size, answered ${answer}`, async () => {
    for (const to of SIZES)
      for (const count of [0, 8, 13, 15, 16, 31]) {
        const drafts = 1 + 2 * (count % 2);
        const { got, expected } = await played({ count, drafts, through: [to], answer });
        assert.deepEqual(got, expected, `${count} printed, ${to.columns}x${to.rows}`);
      }
  });

test('one change of the size, never answered', async () => {
  for (const to of SIZES)
    for (const count of [8, 13, 30]) {
      const { got, expected } = await played({ count, drafts: 3, through: [to], answer: 'never' });
      assert.deepEqual(got.slice(0, count), expected.slice(0, count));
      assert.deepEqual(got.slice(-6), expected.slice(-6));
    }
});

test('several changes of the size before the block can be drawn again', async () => {
  for (const through of [
    [sizeOf(40, 8), sizeOf(50, 19)],
    [sizeOf(54, 18), sizeOf(42, 14), sizeOf(36, 11), sizeOf(24, 8)],
  ])
    for (const count of [2, 5, 8, 11, 14, 17]) {
      const { got } = await played({ count, drafts: 1, through, answer: 'at once' });
      for (const line of printed(count)) assert.ok(got.includes(line), `${line} of ${count}`);
    }
});
