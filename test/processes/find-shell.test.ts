// Proves which shell runs commands: the first bash on the PATH, never one that lies in the folder that a runtime happens to work in.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { makeWorkspace } from '../tools/tool-fixture.ts';

const MODULE = pathToFileURL(join(import.meta.dirname, '../../src/processes/find-shell.ts')).href;

it('the first bash on the PATH that may be run; a relative folder is passed over; else sh', () => {
  const { cwd } = makeWorkspace();
  const places = ['.', 'plain', 'first', 'second'].map((name) => join(cwd, name));
  for (const place of places) {
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'bash'), '', { mode: place.endsWith('plain') ? 0o644 : 0o755 });
  }
  const found = (...folders: readonly string[]) =>
    execFileSync(
      process.execPath,
      ['--input-type=module', '-e', `console.log((await import('${MODULE}')).findShell())`],
      { cwd, env: { PATH: folders.join(':') }, encoding: 'utf8' },
    ).trim();
  const [, plain = '', first = '', second = ''] = places;
  assert.equal(found('', '.', 'first', plain, first, second), join(first, 'bash'));
  assert.equal(found('.', plain), '/bin/sh');
});
