/** Proves that the terminal UI loads nothing that only a server needs, such as the client of Telegram. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { temporaryFolder } from '../temporary-folder.ts';
import { COMPILED } from './compiled.ts';

const root = join(import.meta.dirname, '..', '..');

it('the terminal UI loads what draws it, and no channel', () => {
  const list = join(temporaryFolder(), 'loaded');
  writeFileSync(list, '');
  const hook = pathToFileURL(join(import.meta.dirname, 'loaded-modules.ts')).href;
  const ui = JSON.stringify(pathToFileURL(join(root, 'src', 'cli', 'run', 'ui.ts')).href);
  execFileSync(process.execPath, [`--import=${hook}`, '--input-type=module', '-e', `import ${ui};`], {
    env: { ...process.env, ...COMPILED, LOADED_MODULES: list },
  });
  const modules = readFileSync(list, 'utf8').split('\n');
  assert.ok(modules.some((path) => path.includes('/node_modules/@earendil-works/')));
  const channels = modules.filter((path) => /\/src\/channels\/(?:telegram|slack)\/|\/grammy\//.test(path));
  assert.deepEqual(channels, []);
});
