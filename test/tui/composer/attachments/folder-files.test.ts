/** Proves which files a mention can refer to: in a repository all that are not ignored, without git all that are not hidden; best match first. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import { FolderFiles } from '../../../../src/tui/composer/attachments/folder-files.ts';
import { matchPaths } from '../../../../src/tui/composer/attachments/match-paths.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';

function folderWith(...files: readonly string[]): string {
  const folder = temporaryFolder();
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), '');
  }
  return folder;
}

const FILES = [
  'src/deep/a.ts',
  'b c.md',
  'dist/x.js',
  'node_modules/m/m.js',
  '.hidden',
  'bad\x1b[31m',
  'gone.ts',
];

it('in a repository: tracked and new files, nothing that is ignored', async () => {
  const folder = folderWith(...FILES);
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder });
  git('init', '-q');
  writeFileSync(join(folder, '.gitignore'), 'dist/\nnode_modules\n');
  git('add', 'src');
  const paths = await new FolderFiles().list(folder);
  assert.deepEqual([...paths].sort(), [
    '.gitignore',
    '.hidden',
    'b c.md',
    'gone.ts',
    'src/',
    'src/deep/',
    'src/deep/a.ts',
  ]);
  assert.deepEqual(await new FolderFiles().list(join(folder, 'src')), ['deep/', 'deep/a.ts']);
  assert.deepEqual(
    await new FolderFiles().list(join(folder, 'dist')),
    ['x.js'],
    'an ignored folder has files, too',
  );
});

it('without git: what is neither hidden nor a dependency; a folder that is gone has none', async () => {
  const folder = folderWith(...FILES);
  const files = new FolderFiles();
  const listed = ['b c.md', 'dist/', 'dist/x.js', 'gone.ts', 'src/', 'src/deep/', 'src/deep/a.ts'];
  assert.deepEqual([...(await files.list(folder))].sort(), listed);
  writeFileSync(join(folder, 'new.ts'), '');
  assert.deepEqual([...(await files.list(folder))].sort(), listed, 'a list is kept for a while');
  assert.deepEqual(await files.list(join(folder, 'nowhere')), []);
});

it('the likeliest path comes first', () => {
  const paths = [
    'src/',
    'src/main/',
    'src/main/app.ts',
    'src/app-keys.ts',
    'test/app.test.ts',
    'map.ts',
    'app/',
    'lib/x.ts',
  ];
  assert.deepEqual(matchPaths(paths, 'app', 9), [
    'app/',
    'src/app-keys.ts',
    'src/main/app.ts',
    'test/app.test.ts',
  ]);
  assert.deepEqual(matchPaths(paths, 'src/ma', 9), ['src/main/', 'src/main/app.ts']);
  assert.deepEqual(matchPaths(paths, 'AP.', 9), ['map.ts']);
  assert.deepEqual(matchPaths(paths, 'smapp', 9), ['src/main/app.ts'], 'letters in this order');
  assert.deepEqual(matchPaths(paths, '', 9), ['app/', 'src/', 'map.ts']);
  assert.deepEqual(matchPaths(paths, 'app', 1), ['app/']);
  assert.deepEqual(matchPaths(['xq/y', 'long-xq.ts', 'a/xq'], 'xq', 9), ['a/xq', 'xq/y', 'long-xq.ts']);
  assert.deepEqual(matchPaths(['axq/y', 'long-xq.ts'], 'xq', 9), ['long-xq.ts', 'axq/y'], 'names first');
  assert.deepEqual(matchPaths(paths, 'zzz', 9), []);
});
