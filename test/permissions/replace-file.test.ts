// Proves that a settings file is replaced as a whole or not at all, and that a failure leaves nothing beside it.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { replaceFile } from '../../src/permissions/replace-file.ts';
import { temporaryFolder } from '../temporary-folder.ts';

it('the second content takes the place of the first; what cannot be replaced stays, and nothing is left beside it', () => {
  const folder = temporaryFolder();
  const file = join(folder, 'new', 'settings.json');
  for (const text of ['one', 'two']) replaceFile(file, text);
  assert.equal(readFileSync(file, 'utf8'), 'two');
  assert.deepEqual(
    [statSync(file).mode & 0o777, readdirSync(join(folder, 'new'))],
    [0o600, ['settings.json']],
  );
  mkdirSync(join(folder, 'taken'));
  writeFileSync(join(folder, 'taken', 'kept'), '');
  for (const _ of 'ab')
    assert.throws(() => replaceFile(join(folder, 'taken'), 'three'), { syscall: 'rename' });
  assert.deepEqual(readdirSync(folder).sort(), ['new', 'taken']);
});
