// Proves that the examples run and print what they promise.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { it } from 'node:test';

it('examples/library.ts', () => {
  const file = join(import.meta.dirname, '..', '..', 'examples', 'library.ts');
  const out = execFileSync(process.execPath, [file], { encoding: 'utf8', timeout: 30_000 });
  assert.match(out, /^\+ main\n\+ oak\n\+ hazel\n/);
  assert.match(out, /oak has 3 letters\. hazel has 5 letters\./);
});
