/**
 * Proves that lines which a terminal pastes without marking them are one paste, so that none of them is sent or run by itself, that typed lines are keys,
 * and that Esc pressed twice is two keys, however fast.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { KeySource } from '../../../src/tui/terminal/key-source.ts';
import { until } from '../../until.ts';

const ON = '\x1b[200~';
const OFF = '\x1b[201~';

function source() {
  const got: string[] = [];
  const ignore = () => undefined;
  const listener = { onFocus: ignore, onName: ignore, onKeyboard: ignore, onAnswered: ignore };
  const keys = new KeySource(
    { ...listener, onInput: (data) => got.push(data), onBackground: ignore, onCursor: ignore },
    {},
  );
  return { got, keys };
}

it('lines that come at once are one paste, in whatever pieces they come, and what is behind it is a key', async () => {
  const text = Array.from({ length: 500 }, (_, index) => `!echo line ${index}`).join('\r');
  for (const pieces of [
    [text],
    [`${text}\r`],
    [text.slice(0, 4_000), text.slice(4_000, 4_003), text.slice(4_003)],
  ]) {
    const { got, keys } = source();
    for (const piece of pieces) keys.feed(piece);
    await until(() => got.length > 0, 'the paste');
    assert.deepEqual(got, [`${ON}${pieces.join('')}${OFF}`]);
    keys.feed('\r');
    assert.deepEqual(got.slice(1), ['\r']);
  }
});

it('a key that comes with an escape ends it at once', () => {
  const { got, keys } = source();
  keys.feed('one\rtwo\r');
  keys.feed('\x1b[A');
  assert.deepEqual(got, [`${ON}one\rtwo\r${OFF}`, '\x1b[A']);
});

it('what a terminal marks stays one paste, and what is typed stays keys, also when it is read late', async () => {
  const { got, keys } = source();
  keys.feed(`${ON}one\rtwo\r`);
  keys.feed('three\rfour\rfive\r');
  keys.feed(`six${OFF}y`);
  assert.deepEqual(got, [`${ON}one\rtwo\rthree\rfour\rfive\rsix${OFF}`, 'y']);
  for (const typed of ['hello\r', '\rhello', 'y\ry\r', '\r\r', 'one\rtwo']) {
    const late = source();
    late.keys.feed(typed);
    assert.deepEqual(late.got, [...typed]);
  }
});

it('Esc pressed several times is that many keys, also when they are read at once or within the time in which one may begin a sequence', async () => {
  for (const pieces of [['\x1b\x1b'], ['\x1b', '\x1b'], ['\x1b\x1b\x1b'], ['y\x1b\x1b']]) {
    const { got, keys } = source();
    for (const piece of pieces) keys.feed(piece);
    const pressed = [...pieces.join('')];
    await until(() => got.join('').length >= pressed.length, 'the keys');
    assert.deepEqual(got, pressed);
  }
});
