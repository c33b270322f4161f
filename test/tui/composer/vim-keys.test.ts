/** Proves that the draft has the usual few commands of vim where they are wanted, each as one step of the undo, and that what is no command of theirs works as ever. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LineEditor } from '../../../src/tui/composer/line-editor.ts';

const ESCAPE = '\x1b';
const plain = (text: string) => text;

function open(vim = () => true) {
  const submitted: string[] = [];
  const editor = new LineEditor({
    completion: null,
    sent: () => [],
    vim,
    style: { unicode: true, selected: plain, dim: plain },
    onRedraw: () => undefined,
  });
  editor.onSubmit = (text) => submitted.push(text);
  // As the app does: what vim does not take is the editor's.
  const press = (...keys: string[]) => {
    for (const key of keys) if (!editor.vimKey(key) && key !== ESCAPE) editor.handleInput(key);
  };
  const type = (text: string) => press(...text);
  return { editor, submitted, press, type };
}

/** The draft after a text was typed, Esc, and these commands; `|`: where the next letter would be written before. */
function after(text: string, commands: string): string {
  const { editor, press, type } = open();
  editor.setText(text);
  press(ESCAPE);
  type(commands.replaceAll('^R', '\x12').replaceAll('^[', ESCAPE));
  if (editor.vim_mode === 'NORMAL') press('i');
  type('|');
  return editor.text;
}

const TEXT = 'make a file-name, then test';

test('copies, and takes no character for a command that belongs to one which is not here', () => {
  for (const [commands, expected] of [
    ['0ywP', 'make| make a file-name, then test'],
    ['0yy$p', 'make a file-name, then test\n|make a file-name, then test'],
    ['0"aywP', 'make| make a file-name, then test'],
    ['0fax', '|ake a file-name, then test'],
    ['0rx', '|make a file-name, then test'],
    ['0mxqx@xgx', '|make a file-name, then test'],
    ['0diwx', '|ake a file-name, then test'],
    ['0dfax', '|ake a file-name, then test'],
    ['0caw', '|make a file-name, then test'],
  ] as const)
    assert.equal(after(TEXT, commands), expected, commands);
});

test('moves by character, word and line', () => {
  for (const [commands, expected] of [
    ['', 'make a file-name, then tes|t'],
    ['hh', 'make a file-name, then t|est'],
    ['0', '|make a file-name, then test'],
    ['0w', 'make |a file-name, then test'],
    ['0www', 'make a file|-name, then test'],
    ['0wwwww', 'make a file-name|, then test'],
    ['0e', 'mak|e a file-name, then test'],
    ['0ee', 'make |a file-name, then test'],
    ['0eee', 'make a fil|e-name, then test'],
    ['b', 'make a file-name, then |test'],
    ['bbb', 'make a file-name|, then test'],
    ['bbbbbbbbb', '|make a file-name, then test'],
    ['0$', 'make a file-name, then tes|t'],
    ['0llllll', 'make a| file-name, then test'],
    ['wwl', 'make a file-name, then tes|t'],
  ] as const)
    assert.equal(after(TEXT, commands), expected, commands);
});

test('begins to write before, behind, at both ends of the line, and on a new one', () => {
  assert.equal(after('one\ntwo', '0i'), 'one\n|two');
  assert.equal(after('one\ntwo', '0a'), 'one\nt|wo');
  assert.equal(after('one\ntwo', 'A'), 'one\ntwo|');
  assert.equal(after('one\ntwo', 'I'), 'one\n|two');
  assert.equal(after('one\ntwo', 'ko'), 'one\n|\ntwo');
  assert.equal(after('one\ntwo', 'kO'), '|\none\ntwo');
  assert.equal(after('one\ntwo', 'kk0jx'), 'one\n|wo');
});

test('cuts, changes and puts back', () => {
  for (const [text, commands, expected] of [
    [TEXT, '0x', '|ake a file-name, then test'],
    [TEXT, 'x', 'make a file-name, then te|s'],
    [TEXT, '0dw', '|a file-name, then test'],
    [TEXT, 'bdw', 'make a file-name, then|\u0020'],
    [TEXT, '0cwdo^[', 'd|o a file-name, then test'],
    [TEXT, '0wcwone^[', 'make on|e file-name, then test'],
    [TEXT, '0de', '| a file-name, then test'],
    [TEXT, 'db', 'make a file-name, then |t'],
    [TEXT, '0wD', 'make|\u0020'],
    [TEXT, '0wCit^[', 'make i|t'],
    [TEXT, 'd0', '|t'],
    [TEXT, '0wd$', 'make|\u0020'],
    [TEXT, '0xp', 'a|mke a file-name, then test'],
    [TEXT, '0dwP', 'make| a file-name, then test'],
    ['one\ntwo\nthree', 'kdd', 'one\n|three'],
    ['one\ntwo\nthree', 'dd', 'one\n|two'],
    ['one\ntwo\nthree', 'ddkP', '|three\none\ntwo'],
    ['one\ntwo\nthree', 'kddp', 'one\nthree\n|two'],
    ['one', 'dd', '|'],
    ['one\ntwo', 'ccthree', 'one\nthree|'],
    ['one two\nthree', 'kdw', 'one|\u0020\nthree'],
    // An operator whose motion is none does nothing.
    [TEXT, '0dz', '|make a file-name, then test'],
    [TEXT, '0d^[x', '|ake a file-name, then test'],
    ['', 'xdwddbwe', '|'],
  ] as const)
    assert.equal(after(text, commands), expected, `${text}: ${commands}`);
});

test('undoes and redoes each command, and moves by what a person sees as one character', () => {
  assert.equal(after(TEXT, '0dwdwu'), '|a file-name, then test');
  assert.equal(after(TEXT, '0dwdwuu'), `|${TEXT}`);
  assert.equal(after(TEXT, '0dwdwuu^R^R'), '|file-name, then test');
  assert.equal(after('a👩‍👧b', 'h'), 'a|👩‍👧b');
  assert.equal(after('a👩‍👧b', 'hx'), 'a|b');
  assert.equal(after('ä́ö ü', 'b'), '|ä́ö ü');
  assert.equal(after('ä́ö ü', '0lx'), 'ä́| ü');
  assert.equal(after('\ta\tb', '0x'), '|a\tb');
});

test('a long paste is one character and one word, and comes back whole', () => {
  const { editor, press, type } = open();
  type('see ');
  const long = 'line\n'.repeat(5_000).trim();
  editor.handleInput(`\x1b[200~${long}\x1b[201~`);
  type(' and go');
  press(ESCAPE);
  type('0wx');
  assert.equal(editor.text, 'see  and go');
  type('P');
  assert.equal(editor.text, `see ${long} and go`);
  type('dwu');
  assert.equal(editor.text, `see ${long} and go`);
});

test('Esc is the key of before with nothing to end: in the normal mode, with nothing written, without vim', () => {
  let vim = true;
  const { editor, submitted, press, type } = open(() => vim);
  assert.equal(editor.vim_mode, 'INSERT');
  assert.equal(editor.vimKey(ESCAPE), false);
  assert.equal(editor.vim_mode, 'NORMAL');
  type('zq,ihello');
  assert.equal(editor.text, 'hello');
  assert.equal(editor.vimKey(ESCAPE), true);
  assert.equal(editor.vimKey(ESCAPE), false);
  type('d');
  assert.equal(editor.vimKey(ESCAPE), true);
  press('\r');
  assert.deepEqual(submitted, ['hello']);
  assert.equal(editor.vim_mode, 'INSERT');
  // A command of the program is written from the normal mode, too.
  press(ESCAPE, '/');
  type('vim');
  assert.equal(editor.text, '/vim');
  vim = false;
  assert.equal(editor.vim_mode, null);
  assert.equal(editor.vimKey(ESCAPE), false);
  type(' x');
  assert.equal(editor.text, '/vim x');
});

test('counts repeat motions, also behind an operator, on both sides of it', () => {
  for (const [text, commands, expected] of [
    [TEXT, '03w', 'make a file|-name, then test'],
    [TEXT, '02e', 'make |a file-name, then test'],
    [TEXT, '03e', 'make a fil|e-name, then test'],
    [TEXT, '04e', 'make a file|-name, then test'],
    [TEXT, '3b', 'make a file-name|, then test'],
    [TEXT, '99b', '|make a file-name, then test'],
    [TEXT, '010l', 'make a fil|e-name, then test'],
    [TEXT, '3h', 'make a file-name, then |test'],
    [TEXT, '02dw', '|file-name, then test'],
    [TEXT, '0d2w', '|file-name, then test'],
    [TEXT, '03dw', '|-name, then test'],
    [TEXT, '02d2wu', '|make a file-name, then test'],
    [TEXT, '02d2w', '|name, then test'],
    [TEXT, '0d2e', '| file-name, then test'],
    [TEXT, '0c2wdo^[', 'd|o file-name, then test'],
    [TEXT, '2db', 'make a file-name, |t'],
    [TEXT, '03x', '|e a file-name, then test'],
    [TEXT, '03xp', 'ema|k a file-name, then test'],
    [TEXT, '0x3p', 'amm|mke a file-name, then test'],
    [TEXT, '0dl', '|ake a file-name, then test'],
    ['one\ntwo\nthree\nfour', 'kkk2dd', '|three\nfour'],
    ['one\ntwo\nthree\nfour', 'kkkd3d', '|four'],
    ['one\ntwo\nthree\nfour', '3k2ddp', 'three\n|one\ntwo\nfour'],
    ['one\ntwo\nthree\nfour', '9dd', 'one\ntwo\n|three'],
    ['one two\nthree four', 'k0d3w', '|four'],
    [TEXT, '03^[w', 'make |a file-name, then test'],
    [TEXT, '0d3^[w', 'make |a file-name, then test'],
    [TEXT, '0999999999999w', 'make a file-name, then tes|t'],
  ] as const)
    assert.equal(after(text, commands), expected, commands);
});
