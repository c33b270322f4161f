/** Proves that the terminal is restored however the program stops, pauses or ends, and what remains after the alternate screen. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPty } from './pty.ts';
import { ready, SCREEN_PROGRAM, type ScreenStage, screenStages } from './screen-stage.ts';

const { open, stageOf } = screenStages();

const shown = (stage: ScreenStage) => stage.pty.screen().join('\n').trimEnd().split('\n');
const BLOCK = { lines: ['----', '> ab'], cursor: { row: 1, column: 4 } };
/** Whether the cursor is shown, and alternate screen, bracketed paste, focus reports and synchronized output are off. */
const asItWas = ({ pty }: ScreenStage) =>
  pty.modeOn(25) && !pty.modeOn(1049) && !pty.modeOn(2004) && !pty.modeOn(1004) && !pty.modeOn(2026);
const keysAsTheyWere = ({ pty }: ScreenStage) => {
  const written = pty.written();
  const count = (sequence: string) => written.split(sequence).length - 1;
  assert.equal(count('\x1b[>5u'), count('\x1b[<u'));
  assert.equal(count('\x1b[>4;2m'), count('\x1b[>4;0m'));
};

test('full mode fills the alternate screen; leaving it restores the inline part and shows what was printed meanwhile', async () => {
  const stage = await open({ rows: 10 });
  await stage.perform('printMany', 12);
  await stage.perform('draw', BLOCK);
  const before = stage.pty.history();
  await stage.perform('full', true);
  assert.equal(stage.pty.alternate, true);
  const page = Array.from({ length: 10 }, (_, index) => `page ${index}`);
  await stage.perform('draw', { lines: page, cursor: { row: 9, column: 6 } });
  assert.deepEqual(shown(stage), page);
  assert.deepEqual(stage.pty.cursor(), { row: 9, column: 6 });
  const written = await stage.perform('draw', { lines: page.with(3, 'other'), cursor: null });
  assert.doesNotMatch(written, /page/);
  assert.deepEqual(shown(stage), page.with(3, 'other'));
  assert.equal(stage.pty.modeOn(25), false);
  await stage.perform('draw', { lines: page.slice(0, 2), cursor: null });
  assert.deepEqual(shown(stage), page.slice(0, 2));
  await stage.perform('full', false);
  assert.deepEqual(stage.pty.history(), before);
  assert.equal(stage.pty.modeOn(25), true);
  await stage.perform('full', true);
  assert.deepEqual(shown(stage), ['']);
  await stage.perform('print', ['meanwhile']);
  await stage.perform('full', false);
  assert.deepEqual(stage.pty.history(), [...before.slice(0, 12), 'meanwhile', ...BLOCK.lines]);
  assert.deepEqual(stage.pty.cursor(), { row: 9, column: 4 });
});

test('resizing the window on the alternate screen loses nothing of the main screen', async () => {
  const stage = await open({ columns: 60, rows: 20 });
  await stage.perform('bottom', ['> draft']);
  await stage.perform('printMany', 40);
  for (const [columns, rows] of [
    [30, 20],
    [90, 12],
    [60, 30],
  ] as const) {
    await stage.perform('full', true);
    await stage.resize(columns, rows);
    await stage.perform('full', false);
    await stage.perform('bottom', ['> draft']);
    const lines = stage.pty.history().filter((line) => line !== '');
    const rule = '-'.repeat(columns);
    const printed = Array.from({ length: 40 }, (_, index) => `printed ${index + 1}.`);
    assert.deepEqual(lines, [...printed, rule, '> draft', rule, 'hint']);
  }
});

test('closing leaves printed lines and removes the block', async () => {
  const stage = await open();
  await stage.perform('print', ['kept']);
  await stage.perform('draw', BLOCK);
  assert.equal(stage.pty.modeOn(2004) && stage.pty.modeOn(1004), true);
  stage.pty.send('q');
  assert.deepEqual(await stage.pty.ended, { exitCode: 0, signal: 0 });
  assert.deepEqual(shown(stage), ['kept']);
  assert.deepEqual(stage.pty.cursor(), { row: 1, column: 0 });
  assert.equal(asItWas(stage), true);
  keysAsTheyWere(stage);
});

for (const full of [false, true]) {
  test(`an error that nobody catches ${full ? 'on the alternate screen ' : ''}is told on a restored terminal`, async () => {
    const stage = await open();
    await stage.perform('print', ['kept']);
    await stage.perform('draw', BLOCK);
    if (full) await stage.perform('full', true);
    await stage.perform('throw', null);
    assert.equal((await stage.pty.ended).exitCode, 1);
    assert.equal(asItWas(stage), true);
    keysAsTheyWere(stage);
    assert.equal(stage.pty.alternate, false);
    const lines = shown(stage);
    assert.equal(lines[0], 'kept');
    assert.ok(lines.some((line) => line.includes('Error: a bug of ours')));
    assert.ok(!lines.includes('> ab'));
  });
}

for (const signal of ['SIGHUP', 'SIGTERM'] as const) {
  test(`${signal} is told to the app, which gives the terminal back`, async () => {
    const stage = await open();
    await stage.perform('draw', BLOCK);
    await stage.perform('full', true);
    stage.pty.kill(signal);
    assert.equal((await stage.pty.ended).exitCode, 7);
    assert.deepEqual(shown(stage), ['hung up 1']);
    assert.equal(asItWas(stage), true);
    keysAsTheyWere(stage);
  });
}

test('the app is told that the terminal is gone and ends by itself', async () => {
  const stage = await open();
  await stage.perform('draw', BLOCK);
  stage.pty.hangUp();
  assert.deepEqual(await stage.pty.ended, { exitCode: 7, signal: 0 });
});

/** Starts the program by hand in a shell with job control. */
async function openInShell(): Promise<ScreenStage> {
  const pty = openPty('bash', ['--norc', '--noprofile', '-i'], { env: { PS1: 'ready$ ', HISTFILE: '' } });
  await pty.until('ready$');
  pty.send(`'${process.execPath}' '${SCREEN_PROGRAM}'\r`);
  await ready(pty, 0);
  return stageOf(pty);
}

for (const full of [false, true]) {
  test(`Ctrl-Z ${full ? 'on the alternate screen ' : ''}gives the shell its terminal, fg takes it again`, async () => {
    const stage = await openInShell();
    const { pty } = stage;
    await stage.perform('print', ['kept']);
    await stage.perform('draw', BLOCK);
    if (full) {
      await stage.perform('full', true);
      await stage.perform('draw', { lines: ['page'], cursor: null });
    }
    const stopped = pty.mark();
    pty.send('\x1a');
    await pty.until(() => pty.written(stopped).includes('ready$'), 'the prompt of the shell');
    assert.equal(pty.modeOn(25) && !pty.modeOn(1049) && !pty.modeOn(1004), true);
    assert.ok(!shown(stage).includes('> ab'));
    // The shell echoes and edits as before.
    // Longer than the program waits for a stop that has no effect.
    pty.send('sleep 0.3; echo from $((40 + 2))\r');
    await pty.until('from 42');
    const continued = pty.mark();
    pty.send('fg\r');
    await pty.until(() => /\]2;size/.test(pty.written(continued)), 'the program goes on');
    assert.equal(pty.alternate, full);
    const drawn = pty.written(continued).split(full ? 'page' : '> ab').length - 1;
    assert.equal(drawn, 1, 'drawn once');
    if (full) {
      assert.deepEqual(shown(stage), ['page']);
      await stage.perform('full', false);
    }
    assert.deepEqual(shown(stage).slice(-2), BLOCK.lines);
    assert.equal(shown(stage).filter((line) => line === '> ab').length, 1);
    assert.ok(shown(stage).includes('kept'));
    await stage.perform('print', ['after']);
    assert.deepEqual(shown(stage).slice(-3), ['after', ...BLOCK.lines]);
    pty.send('x');
    assert.deepEqual(await stage.inputs(), ['\x1a', 'x']);
  });
}

test('Ctrl-Z keeps the screen alive where no shell could continue the program', async () => {
  const stage = await open();
  await stage.perform('draw', BLOCK);
  const mark = stage.pty.mark();
  stage.pty.send('\x1a');
  await stage.pty.until(() => /\]2;size/.test(stage.pty.written(mark)), 'the program goes on');
  assert.deepEqual(shown(stage), BLOCK.lines);
  assert.equal(stage.pty.modeOn(2004), true);
});

test('keys arrive one by one, pastes as a whole, and replies of the terminal not at all', async () => {
  const stage = await open();
  stage.pty.send('ab\x1b[A\x1b[1;5D\x1b1日👍');
  assert.deepEqual(await stage.inputs(), ['a', 'b', '\x1b[A', '\x1b[1;5D', '\x1b1', '日', '👍']);
});

test('rings and notifies only while the terminal is not in focus', async () => {
  const stage = await open();
  assert.equal(await stage.perform('attention', 'main is done'), '');
  stage.pty.send('\x1b[O');
  assert.equal(await stage.perform('attention', 'main is done'), '\x07', 'this one has only a bell');
  // The terminal says what it is.
  stage.pty.send('\x1bP>|iTerm2 3.5\x1b\\');
  assert.equal(
    await stage.perform('attention', 'main \x07is\x1b done'),
    '\x07\x1b]9;shop: main  is  done\x07',
  );
  stage.pty.send('\x1bP>|WezTerm 2024\x1b\\');
  assert.equal(await stage.perform('attention', 'a;b'), '\x07\x1b]777;notify;shop;a b\x07');
  stage.pty.send('\x1bP>|kitty(0.40)\x1b\\');
  assert.equal(
    await stage.perform('attention', 'x'),
    '\x07\x1b]99;i=coppice:d=0;shop\x1b\\\x1b]99;i=coppice:p=body;x\x1b\\',
  );
  stage.pty.send('\x1b[I');
  assert.equal(await stage.perform('attention', 'main is done'), '');
  assert.deepEqual(await stage.inputs(), []);
});

test('sets the title once for each text, and the terminal takes back its own', async () => {
  const stage = await open();
  assert.equal(await stage.perform('title', 'shop'), '\x1b[22;2t\x1b]2;shop\x07');
  assert.equal(await stage.perform('title', 'shop'), '');
  assert.equal(await stage.perform('title', 'shop 2'), '\x1b]2;shop 2\x07');
  stage.pty.send('q');
  await stage.pty.until(() => stage.pty.written().includes('\x1b[23;2t'), 'the title is given back');
});
