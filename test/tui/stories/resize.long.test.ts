/** Proves in the real program that shrinking to 40×10 and growing again in many steps loses and duplicates no line, whatever is on the screen. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { KEY, openUi, type UiStage } from './ui-stage.ts';

const SIZES = [
  [90, 28],
  [70, 20],
  [60, 16],
  [40, 10],
  [50, 14],
  [80, 24],
  [100, 30],
] as const;

const LINES = Array.from(
  { length: 40 },
  (_, index) => `line ${index + 1}, ${'word '.repeat(10)}end ${index + 1}.`,
);

/** Long enough for a busy machine: what is drawn for one size must not meet the next. */
const DRAWN_MS = 600;
const QUIET_MS = 15;
const LOOKS = 20;
/** Synchronized output: set while a frame has arrived in part. */
const IN_FRAME = 2026;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A frame that is on its way when the size changes is drawn at the new one, which no program can prevent: waits until one has just arrived, or none is made. */
async function betweenFrames({ pty }: UiStage): Promise<void> {
  const before = pty.mark();
  for (let look = 0; look < LOOKS && pty.mark() === before; look += 1) await pause(QUIET_MS);
  for (let seen = -1; seen !== pty.mark() || pty.modeOn(IN_FRAME); ) {
    seen = pty.mark();
    await pause(QUIET_MS);
  }
}

/** Resizes in steps: the program sees each one, or, as when dragging, only the last of several. */
async function resized(ui: UiStage, dragged: boolean): Promise<void> {
  const { pty } = ui;
  for (const [index, [columns, rows]] of SIZES.entries()) {
    if (!dragged || index % 3 === 0) {
      await pause(DRAWN_MS);
      await betweenFrames(ui);
    }
    pty.resize(columns, rows);
  }
  const width = SIZES.at(-1)?.[0] ?? 0;
  await pty.until(
    () => pty.alternate || pty.screen().some((row) => row.length >= width - 2),
    'drawn for the last size',
  );
}

for (const cuts of [true, false])
  it(`on a terminal that ${cuts ? 'cuts' : 'rewraps'} lines`, async (test) => {
    const rules = {
      rules: [
        { when: { root: true, step: 0 }, say: LINES.join('\n\n'), chunk_ms: 60 },
        { when: { root: true, step: 1 }, calls: [{ name: 'bash', input: { command: 'echo asked' } }] },
        { say: 'The end.' },
      ],
    };
    const ui = await openUi(test, rules, { cuts, ...(cuts ? { env: { XTERM_VERSION: 'XTerm(390)' } } : {}) });
    await ui.say('stream');
    await ui.pty.until('line 3,');
    await resized(ui, true);
    await resized(ui, false);
    await ui.pty.until('end 40.');
    await ui.press(KEY.leader, 'a');
    await ui.pty.until('Agents 1');
    await resized(ui, true);
    await ui.press(KEY.escape);
    await ui.say('ask');
    await ui.pty.until('wants: bash');
    await resized(ui, false);
    await ui.pty.until('echo asked');
    await ui.answer('y');
    await ui.pty.until('The end.');
    await ui.say('/quit');
    await ui.pty.ended;
    const history = ui.pty.history().join('\n');
    for (let line = 1; line <= LINES.length; line += 1)
      // Text that the terminal cuts off is lost.
      // Where lines are rewrapped, a row of an old block may stay.
      for (const part of cuts ? [`line ${line}, `] : [`line ${line}, `, `end ${line}.`])
        if (cuts) assert.equal(history.split(part).length, 2, part);
        else assert.ok(history.includes(part), part);
    if (cuts) assert.doesNotMatch(history, /\[0 main\]|^[┌│└]|^>\s*$/m);
  });

it('a paragraph that fills the screen is kept once where the window can no longer hold it', async (test) => {
  const count = 60;
  const words = Array.from({ length: count }, (_, index) => `<${index}> ${'word '.repeat(8)}`).join('');
  const ui = await openUi(
    test,
    { rules: [{ say: `${words}<end>`, chunk_ms: 150 }] },
    { columns: 120, rows: 40 },
  );
  await ui.say('stream');
  await ui.pty.until('<24>');
  await betweenFrames(ui);
  ui.pty.resize(40, 10);
  await ui.pty.until('<30>');
  await betweenFrames(ui);
  ui.pty.resize(200, 50);
  const working = () => ui.pty.screen().some((row) => row.includes('answering'));
  await ui.pty.until(() => ui.pty.screen().join('').includes('<end>') && !working(), 'the whole answer');
  await ui.say('/quit');
  await ui.pty.ended;
  const history = ui.pty.history().join('\n').replaceAll(/\s/g, '');
  const twice = Array.from({ length: count }, (_, index) => `<${index}>`).filter(
    (word) => history.split(word).length > 2,
  );
  // A frame that was on its way may have been drawn at the new size.
  assert.ok(twice.length < 12, `twice: ${twice.join(' ')}`);
});
