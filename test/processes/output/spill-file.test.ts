// Proves that spilled output is bounded, per tree and in total: the oldest output makes room for the new, and what cannot be kept is reported.
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { SpillFile } from '../../../src/processes/output/spill-file.ts';
import { removeSpilledOutput, TREE_BYTES, TREE_TMP } from '../../../src/processes/output/spill-folder.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

/** Bytes that are written between two measurements of the folder. */
const PIECE = 8 * 1024 * 1024;

/** Creates a sparse file of this size. */
function fill(file: string, bytes: number): void {
  writeFileSync(file, '');
  truncateSync(file, bytes);
}

it('a folder with room for exactly one more piece is not full: older output goes when that is written', () => {
  const folder = temporaryFolder();
  const older = join(folder, 'older.txt');
  fill(older, TREE_BYTES - PIECE);
  const spill = new SpillFile(folder);
  spill.write(Buffer.alloc(PIECE));
  assert.ok(existsSync(older));
  spill.write(Buffer.from('more'));
  assert.ok(!existsSync(older));
  assert.match(spill.close(), /^the whole output is in /);
});

it('a closed file holds no descriptor', () => {
  const descriptors = () => readdirSync('/dev/fd').length;
  const folder = temporaryFolder();
  const before = descriptors();
  const spill = new SpillFile(folder);
  assert.equal(descriptors(), before + 1);
  spill.close();
  assert.equal(descriptors(), before);
});

it('what the disk did not take is told', () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'file'), '');
  const none = new SpillFile(join(folder, 'file'));
  none.write(Buffer.from('lost'));
  assert.equal(none.close(), 'could not be kept on disk (EEXIST)');
  const gone = new SpillFile(join(folder, 'gone'));
  gone.write(Buffer.from('begun'));
  rmSync(join(folder, 'gone'), { recursive: true });
  assert.match(gone.close(), /^the first 5 bytes are in .*, then writing failed \(ENOENT\)$/);
});

it('one tree spills no more than its share: its oldest output makes room for what is new', () => {
  const folder = temporaryFolder();
  const half = (TREE_BYTES - 100_000) / 2;
  for (const [at, name] of ['b', 'a'].entries()) {
    fill(join(folder, name), half);
    utimesSync(join(folder, name), 1000 + at, 1000 + at);
  }
  const file = new SpillFile(folder);
  for (let at = 0; at < 10; at += 1) file.write(Buffer.alloc(64 * 1024));
  const [, path = ''] = /^the whole output is in (.*)$/.exec(file.close()) ?? [];
  assert.equal(statSync(path).size, 655_360);
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.length === 1),
    ['a'],
  );
});

it('what is being written makes room for nothing; what then cannot be kept is told', () => {
  const folder = temporaryFolder();
  const other = new SpillFile(folder);
  other.write(Buffer.from('begun'));
  const [written = ''] = readdirSync(folder);
  truncateSync(join(folder, written), TREE_BYTES - 100_000);
  const file = new SpillFile(folder);
  for (let at = 0; at < 10; at += 1) file.write(Buffer.alloc(64 * 1024));
  assert.match(file.close(), /^the first 100000 bytes are in .*, 555360 bytes were discarded$/);
  utimesSync(join(folder, written), 1000, 1000);
  const later = new SpillFile(folder);
  later.write(Buffer.from('x'));
  assert.match(later.close(), /^the whole output is in /);
  assert.equal(existsSync(join(folder, written)), false, 'left behind by a process that died');
  assert.match(other.close(), /ENOENT/);
});

it('of all trees together the oldest goes first', async () => {
  const folder = temporaryFolder();
  for (const [at, tree] of ['c', 'a', 'b'].entries()) {
    mkdirSync(join(folder, tree));
    fill(join(folder, tree, 'output.txt'), 1000);
    utimesSync(join(folder, tree, 'output.txt'), 1000 + at, 1000 + at);
  }
  assert.deepEqual(await removeSpilledOutput(folder, { keep_bytes: 2000 }), { files: 1, bytes: 1000 });
  assert.deepEqual(readdirSync(folder).sort(), ['a', 'b']);
  assert.deepEqual(await removeSpilledOutput(folder, { keep_bytes: 2000 }), { files: 0, bytes: 0 });
  const one = { files: 1, bytes: 1000 };
  assert.deepEqual(await removeSpilledOutput(folder, { keep_bytes: 1000, dry_run: true }), one);
  assert.deepEqual(await removeSpilledOutput(folder, { before: 1_002_000 }), one);
  assert.deepEqual(readdirSync(folder), ['b']);
  assert.deepEqual(await removeSpilledOutput(join(folder, 'none'), {}), { files: 0, bytes: 0 });
  assert.ok(existsSync(folder));
});

it('the /tmp of sandboxed commands goes as a whole when it is old, and not to make room', async () => {
  const folder = temporaryFolder();
  const [tmp, output] = [join(folder, 'tree', TREE_TMP), join(folder, 'tree', 'output.txt')];
  mkdirSync(join(tmp, 'deep'), { recursive: true });
  writeFileSync(join(tmp, 'deep/file'), 'x');
  fill(output, 1000);
  utimesSync(tmp, 1, 1);
  assert.deepEqual(await removeSpilledOutput(folder, { keep_bytes: 0 }), { files: 1, bytes: 1000 });
  assert.deepEqual([existsSync(output), existsSync(join(tmp, 'deep/file'))], [false, true]);
  assert.deepEqual(await removeSpilledOutput(folder, { before: 2000 }), { files: 1, bytes: 0 });
  assert.deepEqual(readdirSync(folder), []);
});

it('what is being written stays, however full the folder is; what a process that died left behind goes', async () => {
  const folder = temporaryFolder();
  const spill = new SpillFile(join(folder, 'tree'));
  spill.write(Buffer.from('begun'));
  const all = { keep_bytes: 0, before: Date.now() + 60_000 };
  assert.deepEqual(await removeSpilledOutput(folder, all), { files: 0, bytes: 0 });
  const [written = ''] = readdirSync(join(folder, 'tree'));
  utimesSync(join(folder, 'tree', written), 1000, 1000);
  assert.deepEqual(await removeSpilledOutput(folder, all), { files: 1, bytes: 5 });
  spill.close();
});
