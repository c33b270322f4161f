// Proves that a folder which this user may not enter is refused as one to work in, instead of failing later as something else.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { temporaryFolder } from '../temporary-folder.ts';

const SOURCE = join(import.meta.dirname, '..', '..', 'src', 'processes', 'working-folder.ts');
/** Enters as a user to whom the folder does not belong, if this one may read everything. */
const CHILD = `
const { workingFolder } = await import(${JSON.stringify(pathToFileURL(SOURCE).href)});
if (process.getuid?.() === 0) {
  process.setgroups([]);
  process.setgid(65534);
  process.setuid(65534);
}
try {
  console.log(workingFolder('closed'));
} catch ({ code, message }) {
  console.log(code, message);
}`;

it('a folder that may not be entered is refused', () => {
  const folder = temporaryFolder();
  const closed = join(folder, 'closed');
  mkdirSync(closed);
  chmodSync(folder, 0o755);
  chmodSync(closed, 0);
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', CHILD], {
    cwd: folder,
    encoding: 'utf8',
  });
  chmodSync(closed, 0o700);
  assert.match(stdout, /^E_NO_FOLDER you may not enter the folder closed\n$/, stderr);
});
