// Proves what a spill file does at the bounds of its folder: older output makes room as soon as too little is left for the next piece.
import assert from 'node:assert/strict';
import { closeSync, existsSync, ftruncateSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { SpillFile } from '../../src/processes/spill-file.ts';
import { TOOL_LIMITS } from '../../src/processes/tool-limits.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const PIECE = 8 * 1024 * 1024;

/** A file without any content on the disk. */
function sparse(path: string, bytes: number): void {
  const file = openSync(path, 'w');
  ftruncateSync(file, bytes);
  closeSync(file);
}

it('a folder with room for exactly one more piece is not full: the older output goes when that is written', () => {
  const folder = temporaryFolder();
  const older = join(folder, 'older.txt');
  sparse(older, TOOL_LIMITS.spill_tree_bytes - PIECE);
  const spill = new SpillFile(folder);
  spill.write(Buffer.alloc(PIECE));
  assert.ok(existsSync(older));
  spill.write(Buffer.from('more'));
  assert.ok(!existsSync(older));
  assert.match(spill.close(), /^the whole output is in /);
});
