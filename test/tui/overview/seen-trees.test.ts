// Proves that seen marks are shared by all windows, that nothing older than the first start counts as unread, and that the file does not grow without bound.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { SeenTrees } from '../../../src/tui/overview/seen-trees.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const newFile = (): string => join(temporaryFolder(), 'data', 'seen.json');

it('is shared by all windows, and never goes back', () => {
  const file = newFile();
  const one = new SeenTrees(file, 100);
  const other = new SeenTrees(file, 500);
  assert.equal(other.read().since, 100, 'the first start counts');
  one.mark('a', 200);
  other.mark('b', 300);
  one.mark('a', 150);
  assert.deepEqual([...new SeenTrees(file, 900).read().trees], [...one.read().trees]);
  assert.deepEqual(Object.fromEntries(one.read().trees), { a: 200, b: 300 });
});

it('forgets the oldest marks, whose trees stay seen', () => {
  const file = newFile();
  const seen = new SeenTrees(file, 100);
  for (let index = 0; index < 310; index += 1) seen.mark(`tree-${index}`, 1_000 + index);
  const { since, trees } = seen.read();
  assert.equal(trees.size, 300);
  assert.ok(!trees.has('tree-9') && trees.has('tree-10'));
  assert.equal(since, 1_009, 'up to the newest mark that was forgotten');
});

it('lasts as long as the program where no file can be read or written', () => {
  const seen = new SeenTrees('/dev/null/seen.json', 100);
  seen.mark('a', 200);
  assert.equal(seen.read().trees.get('a'), 200);
  const file = newFile();
  new SeenTrees(file, 100).mark('a', 200);
  writeFileSync(file, readFileSync(file, 'utf8').slice(0, -4));
  assert.equal(new SeenTrees(file, 700).read().since, 700);
});
