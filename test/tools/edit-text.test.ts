// Proves that edits keep the line ends and the byte order mark of a file, whichever of the two spellings a model quotes, one edit after the other.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { editText, withBreaksOf } from '../../src/tools/files/edit-text.ts';

const edit = (text: string, ...edits: readonly (readonly [string, string])[]) =>
  editText(
    text,
    edits.map(([old_text, new_text]) => ({ old_text, new_text })),
  );

test('text is found whichever line ends the file and the edit have, and the file keeps its own', () => {
  for (const wanted of ['b\nc\n', 'b\r\nc\r\n'])
    for (const given of ['x\ny\nz\n', 'x\r\ny\r\nz\r\n'])
      assert.equal(edit('a\r\nb\r\nc\r\nd', [wanted, given]), 'a\r\nx\r\ny\r\nz\r\nd');
  assert.equal(
    edit('a\nb\nc\n', ['b\r\nc', 'x\r\nc']),
    'a\nx\nc\n',
    'an edit brings no CR LF into a file without',
  );
  assert.equal(edit('a\rb\rc', ['b', 'x']), 'a\rx\rc', 'a lone CR is no line end');
});

test('each edit sees what all before it have made', () => {
  assert.equal(edit('one two three', ['one', 'two'], ['two two', 'x'], ['x three', 'y']), 'y');
  assert.throws(
    () => edit('one two', ['one', 'two'], ['one', 'x'], ['two', 'y']),
    /edits\[1\]\.old_text": not found/,
  );
  assert.throws(() => edit('one two', ['one', 'two'], ['two', 'y']), /edits\[1\]\.old_text": found 2 times/);
  assert.equal(edit('a\r\nb', ['a\nb', 'a\nb\nc'], ['b\nc', 'd']), 'a\r\nd');
});

test('in a file with both line ends each line keeps its own, and a new line gets that of the line before', () => {
  const mixed = 'a\r\nb\nc\r\nd\n';
  assert.equal(withBreaksOf(mixed, 'a\nb\nc\nd\n'), mixed);
  assert.equal(withBreaksOf(mixed, 'a\nb\nx\nc\nd\n'), 'a\r\nb\nx\nc\r\nd\n');
  assert.equal(withBreaksOf(mixed, 'a\nx\nb\nc\nd\n'), 'a\r\nx\r\nb\nc\r\nd\n');
  assert.equal(withBreaksOf(mixed, 'a\nc\nd\n'), 'a\r\nc\r\nd\n');
  assert.equal(withBreaksOf('a\nb\n', 'x\r\ny\n'), 'x\r\ny\n', 'without CR LF nothing is changed');
});

test('a byte order mark stays, once', () => {
  assert.equal(edit('\ufeffa\nb', ['a', 'x']), '\ufeffx\nb');
  assert.equal(edit('\ufeffa\r\nb', ['\ufeffa', 'x'], ['x', 'y']), '\ufeffy\r\nb');
  assert.equal(withBreaksOf('\ufeffa', 'b'), '\ufeffb');
  assert.equal(withBreaksOf('\ufeffa', '\ufeffb'), '\ufeffb');
  assert.equal(withBreaksOf('a', 'b'), 'b');
});

test('replaces all places that do not overlap where it is told to, and refuses what would grow without end', () => {
  const all = (text: string, old_text: string, new_text: string) =>
    editText(text, [{ old_text, new_text, replace_all: true }]);
  assert.equal(all('a-a-a', 'a', '$&'), '$&-$&-$&');
  assert.equal(all('aaaaa', 'aa', 'b'), 'bba');
  assert.equal(all('x\r\ny\r\nx\r\ny\r\n', 'x\ny', 'z'), 'z\r\nz\r\n');
  assert.equal(all('a'.repeat(1_000), 'a', 'b'), 'b'.repeat(1_000));
  assert.throws(() => all('b', 'a', 'c'), /not found/);
  assert.throws(() => all('a'.repeat(10_000), 'a', 'b'.repeat(10_000)), /too long for 10000 places/);
});
