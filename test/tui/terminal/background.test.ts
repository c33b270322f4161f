/** Proves that a terminal's reports of its background and cursor are understood, and that no part of them is ever taken for a key. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { backgroundOfEnvironment, backgroundOfReport } from '../../../src/tui/terminal/background.ts';
import { KeySource } from '../../../src/tui/terminal/key-source.ts';
import { kindOfBackground } from '../../../src/tui/text/themes.ts';
import { openPty } from './pty.ts';
import { SCREEN_PROGRAM, screenStages } from './screen-stage.ts';

const WHITE = '\x1b]11;rgb:ffff/ffff/ffff\x1b\\';
const ATTRIBUTES = '\x1b[?1;2c';

/** Feeds pieces, each after the timeout for an escape; returns what was reported. */
const fed = (...pieces: string[]): Promise<string[]> => fedSlowly(130, pieces);

async function fedSlowly(pause_ms: number, pieces: readonly string[]): Promise<string[]> {
  const got: string[] = [];
  const ignore = () => undefined;
  const source = new KeySource(
    {
      ...{ onFocus: ignore, onName: ignore, onKeyboard: ignore, onAnswered: ignore },
      onInput: (data) => got.push(data),
      onBackground: (ground) => got.push(`[${kindOfBackground(ground)}]`),
      onCursor: (row) => got.push(`[row ${row}]`),
    },
    {},
  );
  source.asked();
  for (const piece of pieces) {
    source.feed(piece);
    await new Promise((resolve) => setTimeout(resolve, pause_ms));
  }
  return got;
}

describe('a report', () => {
  it('is no key, whole or in parts, with either end, early or late', async () => {
    assert.deepEqual(await fed(`a${WHITE}b${ATTRIBUTES}c`), ['a', '[light]', 'b', 'c']);
    for (const at of [1, 2, 3, 4, 5, 12, WHITE.length - 1])
      assert.deepEqual(await fed(WHITE.slice(0, at), `${WHITE.slice(at)}${ATTRIBUTES}x`), ['[light]', 'x']);
    assert.deepEqual(await fed(`${ATTRIBUTES}x`, '\x1b]11;rgb:00/1a/20\x07y'), ['x', '[dark]', 'y']);
    assert.deepEqual(await fed('\x1b]10;rgb:ffff/ffff/ffff\x1b\\x'), ['x']);
  });

  it('does not swallow Esc while it is waited for, nor Alt-] afterwards', async () => {
    assert.deepEqual(await fed('\x1b', 'x'), ['\x1b', 'x']);
    assert.deepEqual(await fedSlowly(300, [ATTRIBUTES, '\x1b', '\x1b]', 'x']), ['\x1b', '\x1b]', 'x']);
  });

  it('of the cursor is no key, whole or in parts, while keys are typed', async () => {
    assert.deepEqual(await fed('a\x1b[?12;3Rb'), ['a', '[row 11]', 'b']);
    const report = '\x1b[?12;3R';
    const pieces = [3, 4, 5, 6, 7].map((at) => fed(`a${report.slice(0, at)}`, `${report.slice(at)}b`));
    for (const got of await Promise.all(pieces)) assert.deepEqual(got, ['a', '[row 11]', 'b']);
    assert.deepEqual(await fed(ATTRIBUTES, '\x1b', '\x1b[?1;1R', '\x1b'), ['\x1b', '[row 0]', '\x1b']);
  });

  it('that is a key and comes in parts is one key, however late, and no text', async () => {
    assert.deepEqual(await fed('\x1b[', '1;5', 'A'), ['\x1b[1;5A']);
    assert.deepEqual(await fed('\x1b', '[A', 'x'), ['\x1b[A', 'x']);
    assert.deepEqual(await fed(ATTRIBUTES, '\x1b', '[A', 'x'), ['\x1b', '\x1b[A', 'x']);
    assert.deepEqual(await fed(ATTRIBUTES, '\x1b', 'x', '[A'), ['\x1b', 'x', '[', 'A']);
  });

  it('of the cursor is told apart from F3 with Shift, Alt or Ctrl', async () => {
    for (const key of ['\x1b[1;2R', '\x1b[1;3R', '\x1b[1;5R']) assert.deepEqual(await fed(key), [key]);
  });

  it('tells dark from light', () => {
    const ground = (colour: string) => {
      const found = backgroundOfReport(`]11;${colour}\x07`);
      return found && kindOfBackground(found);
    };
    assert.equal(ground('rgb:fdfd/f6f6/e3e3'), 'light');
    assert.equal(ground('rgb:0000/2b2b/3636'), 'dark');
    assert.equal(ground('rgba:1e/1e/1e/ff'), 'dark');
    assert.equal(ground('#fafafa'), 'light');
    assert.equal(ground('#808080'), 'light');
    assert.equal(ground('#707070'), 'dark');
    assert.equal(ground('white'), null);
    for (const [text, found] of [
      ['15;0', 'dark'],
      ['0;15', 'light'],
      ['0;default;7', 'light'],
      ['15;8', 'dark'],
      ['15;default', null],
    ] as const)
      assert.equal(backgroundOfEnvironment({ COLORFGBG: text }), found);
    assert.equal(backgroundOfEnvironment({}), null);
  });
});

const { open } = screenStages();

it('nobody waits long for a terminal that answers nothing', async () => {
  const pty = openPty(process.execPath, [SCREEN_PROGRAM], { silent: true });
  await pty.until(() => pty.written().includes('\x1b]2;answered'), 'that it need not be waited for');
  await pty.end();
});

it('a terminal is asked once it is taken, and its answer reaches nobody as input', async () => {
  const stage = await open({ background: 'rgb:ffff/ffff/ffff' });
  assert.ok(stage.pty.written().includes('\x1b]11;?'));
  stage.pty.send('k');
  await stage.pty.until(() => true);
  assert.deepEqual(await stage.inputs(), ['k']);
});
