// Proves that what a browser loads before it shows the first page stays small: what other pages need comes later.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { gzipSync } from 'node:zlib';

const BYTES_MAX = 60_000;
const folder = join(import.meta.dirname, '../../../dist/web');

it('the first script and what it imports take less than 60 KB packed', () => {
  const first = readFileSync(join(folder, 'dashboard.js'), 'utf8');
  const imported = [...first.matchAll(/from"\.\/([\w.-]+)"/g)].map(([, name = '']) => name);
  assert.deepEqual(imported, ['chunk.js']);
  assert.match(first, /import\("\.\/seldom\.js"\)/);
  const packed = ['dashboard.js', ...imported].map(
    (name) => gzipSync(readFileSync(join(folder, name))).length,
  );
  const bytes = packed.reduce((sum, one) => sum + one, 0);
  assert.ok(bytes < BYTES_MAX, `${bytes} bytes`);
});
