/**
 * Proves that lines which a terminal pastes without marking them are one paste, so that none of them is sent or run by itself, that typed lines are keys,
 * that Esc pressed twice is two keys, however fast, and that a slow line makes no other keys of sequences whose bytes it brings one by one.
 */
import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
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

const BETWEEN_MS = 300;

/** A source whose time is the test's; `bytes` feeds what a slow line brings, `typed` what a person types. */
function slowSource(test: TestContext) {
  test.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000_000 });
  const { got, keys } = source();
  const pass = (ms: number) => test.mock.timers.tick(ms);
  const bytes = (text: string) => {
    for (const byte of text) {
      keys.feed(byte);
      pass(BETWEEN_MS);
    }
  };
  return { got, keys, pass, bytes };
}

const REPORTS = ['\x1b[?0u', '\x1bP>|xterm(1)\x1b\\', '\x1b]11;rgb:0/0/0\x07', '\x1b[?62;4c'].join('');
const KEYS = ['\x1b[A', '\x1b[1;5C', '\x1bOP', '\x1b[3~', '\x1b[<0;3;4M', '\x1b[97;5u'];

it('keys, reports and pastes that arrive at 300 ms a byte are what they are at once', (test) => {
  const { got, keys, bytes, pass } = slowSource(test);
  keys.asked();
  bytes(REPORTS);
  assert.deepEqual(got, [], 'a terminal that reports itself presses no key');
  for (const key of KEYS) bytes(key);
  assert.deepEqual(got.splice(0), KEYS);
  bytes(`${ON}one\rtwo${OFF}`);
  assert.deepEqual(got.splice(0), [`${ON}one\rtwo${OFF}`]);
  bytes('ab');
  assert.deepEqual(got.splice(0), ['a', 'b']);
  keys.feed('\x1b');
  pass(750);
  assert.deepEqual(got.splice(0), ['\x1b'], 'Esc alone acts within a moment');
});

it('reports that a busy start reads late and in pieces do not make Esc wait, and a slow line is still told by them', (test) => {
  for (const report of [
    '\x1b[?0u',
    '\x1bP>|xterm(1)\x1b\\',
    '\x1b]11;rgb:0/0/0\x07',
    '\x1b[?62;4c',
    '\x1b[?4;1R',
  ])
    for (let at = 1; at < report.length; at += 1) {
      const { got, keys, pass } = slowSource(test);
      keys.asked();
      keys.feed(report.slice(0, at));
      pass(900);
      keys.feed(report.slice(at));
      keys.feed('\x1b[?62;4c');
      keys.feed('\x1b');
      pass(100);
      assert.deepEqual(got, ['\x1b'], `${JSON.stringify(report)} in two pieces, at ${at}`);
      test.mock.timers.reset();
    }
});

it('a line that has become slow costs one Esc at most: what it belongs to is no text, and the next key is whole', (test) => {
  for (const key of ['\x1b[A', '\x1b[1;5C', '\x1b[3~', `${ON}one${OFF}`]) {
    const { got, bytes } = slowSource(test);
    bytes(key);
    assert.deepEqual(got.splice(0), ['\x1b', key]);
    bytes(key);
    assert.deepEqual(got, [key]);
    test.mock.timers.reset();
  }
});

it('what has begun like a sequence is completed however late its rest comes', (test) => {
  for (const [begin, rest] of [
    ['\x1b[', 'A'],
    ['\x1b[1;', '5C'],
    ['\x1b[20', `0~one${OFF}`],
    [`${ON}on`, `e${OFF}`],
    ['\x1b[<0;3', ';4M'],
  ] as const) {
    const { got, keys, pass } = slowSource(test);
    keys.feed(begin);
    pass(60_000);
    assert.deepEqual(got, []);
    keys.feed(rest);
    assert.deepEqual(got, [begin + rest]);
    test.mock.timers.reset();
  }
});

it('Esc and then text is Esc and text, also if the text begins with a bracket or an O', (test) => {
  for (const text of ['[x] done', '[1] one', '[', '[y', 'Once', 'y', '[]']) {
    const { got, keys, pass } = slowSource(test);
    keys.feed('\x1b');
    pass(BETWEEN_MS);
    assert.deepEqual(got, ['\x1b']);
    for (const typed of text) {
      keys.feed(typed);
      pass(BETWEEN_MS / 2);
    }
    pass(1_000);
    assert.deepEqual(got.splice(0), ['\x1b', ...text]);
    keys.feed('\x1b');
    pass(100);
    assert.deepEqual(got, ['\x1b'], 'what a person types does not make the line slow');
    test.mock.timers.reset();
  }
});

it('keys that soon follow Esc do not make it wait longer', (test) => {
  const { got, keys, pass } = slowSource(test);
  for (let gap_ms = 90; gap_ms < 1_000; gap_ms *= 1.8) {
    keys.feed('\x1b');
    pass(gap_ms);
    keys.feed('\x18');
    pass(1_000);
  }
  got.length = 0;
  keys.feed('\x1b');
  pass(100);
  assert.deepEqual(got, ['\x1b']);
});

it('Alt and a bracket, after which nothing comes, takes nothing away from what is typed or pasted later', (test) => {
  for (const [data, expected] of [
    ['y', ['y']],
    ['\x1b[A', ['\x1b[A']],
    ['one\rtwo\r', [`${ON}one\rtwo\r${OFF}`]],
  ] as const) {
    const { got, keys, pass } = slowSource(test);
    keys.feed('\x1b[');
    pass(5_000);
    keys.feed(data);
    pass(1_000);
    assert.deepEqual(got, expected);
    test.mock.timers.reset();
  }
});
