// Proves that the root of the repository holds only what it should: files that a test or a command leaves there by mistake are reported.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';

const SHOULD = [
  ...[
    '.ci',
    '.dockerignore',
    '.gitignore',
    '.npmrc',
    'AGENTS.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'LICENSE',
    'action.yml',
  ],
  ...[
    'README.md',
    'SECURITY.md',
    'bench',
    'biome.json',
    'deploy',
    'docs',
    'examples',
    'knip.json',
    'package-lock.json',
  ],
  ...['package.json', 'scripts', 'src', 'test', 'tsconfig.build.json', 'tsconfig.json', 'web'],
];
/** Created locally and ignored by git. */
const LOCAL = ['.git', 'node_modules', 'dist', 'coverage', '.coppice'];

it('the root holds only what it should', () => {
  const found = readdirSync(join(import.meta.dirname, '..', '..'));
  assert.deepEqual(
    found.filter((name) => ![...SHOULD, ...LOCAL].includes(name)),
    [],
  );
  assert.deepEqual(
    SHOULD.filter((name) => !found.includes(name)),
    [],
  );
});
