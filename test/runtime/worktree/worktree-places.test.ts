/**
 * Proves that a new worktree is checked itself before anything runs or is written in it: wherever settings of the repository or of the user would lead git, no
 * file outside of it changes, what was made is removed, and the refusal says why and what to do. Kinds of checkouts that are in order get their worktree.
 */
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { makeWorktree } from '../../../src/runtime/worktree/git-worktree.ts';
import { makeFolder } from '../project-folder.ts';
import { makeRepository, type Repository, runGit } from './git-repository.ts';

let outer: Repository;
let folders: string[];
let place: string;

beforeEach(() => {
  outer = makeRepository({ 'a.txt': 'one\n', 'sub-folder/b.txt': 'two\n' });
  place = realpathSync(makeFolder({}));
  folders = [outer.folder, place];
});
afterEach(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A submodule, at `path` of the checkout `of`, whose files have the names of git's own. */
function submodule(of: string, path: string): string {
  const inner = makeRepository({
    config: 'of the application\n',
    'hooks/post-commit': '#!/bin/sh\n',
    HEAD: 'x\n',
  });
  folders.push(inner.folder);
  runGit(of, '-c', 'protocol.file.allow=always', 'submodule', 'add', '--quiet', inner.folder, path);
  runGit(of, 'commit', '--quiet', '--message', 'submodule');
  return join(of, path);
}

/** All files below a folder with their contents. */
function contents(folder: string): Record<string, string> {
  const all = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    all.map((entry) => [
      join(entry.parentPath, entry.name),
      readFileSync(join(entry.parentPath, entry.name), 'latin1'),
    ]),
  );
}

async function refused(base: string, kept: string, error: RegExp): Promise<void> {
  const before = contents(kept);
  const made = await makeWorktree(base, place, 'agent-call-0');
  assert.ok(!made.ok, 'a worktree was made');
  assert.match(made.error, error);
  assert.deepEqual(readdirSync(place), [], 'the folder stays');
  const after = contents(kept);
  // Git logs the branch that was made and removed, and may leave empty files of its own.
  const isLog = (path: string) => /\/(logs|refs)\//.test(path);
  for (const [path, content] of Object.entries(after))
    if (!isLog(path)) assert.equal(content, before[path], path);
  for (const path of Object.keys(before)) assert.ok(path in after, path);
}

async function made(base: string): Promise<string> {
  const result = await makeWorktree(base, place, 'agent-call-0');
  assert.ok(result.ok, JSON.stringify(result));
  return result.worktree.path;
}

describe('a worktree is refused, and nothing outside of it is written,', () => {
  for (const depth of [1, 2])
    it(`in a submodule whose core.worktree applies to all checkouts, ${depth} deep`, async () => {
      let at = outer.folder;
      for (let level = 0; level < depth; level += 1) at = submodule(at, 'sub');
      runGit(at, 'config', 'extensions.worktreeConfig', 'true');
      await refused(
        at,
        outer.folder,
        /(lead git from|does not work in) the new worktree.*modules.*config\.worktree/s,
      );
    });

  it('where core.worktree leads to another folder', async () => {
    const other = makeFolder({ 'a.txt': 'mine\n' });
    folders.push(other);
    outer.git('config', 'core.worktree', other);
    await refused(outer.folder, other, /core\.worktree of the repository leads away/);
  });

  it('where the last commit has a link in place of the folder', async () => {
    const other = makeFolder({});
    folders.push(other);
    symlinkSync(other, join(outer.folder, 'linked'));
    outer.git('add', '--all');
    outer.git('commit', '--quiet', '--message', 'link');
    rmSync(join(outer.folder, 'linked'));
    mkdirSync(join(outer.folder, 'linked', 'deeper'), { recursive: true });
    await refused(join(outer.folder, 'linked', 'deeper'), other, /linked\/deeper is a file or a link/);
    assert.deepEqual(outer.worktrees(), []);
    assert.deepEqual(outer.branches(), []);
  });

  it('in a bare repository, in .git itself, and before the first commit', async () => {
    const bare = makeFolder({});
    const unborn = makeFolder({});
    folders.push(bare, unborn);
    runGit(bare, 'init', '--quiet', '--bare');
    runGit(unborn, 'init', '--quiet');
    for (const base of [bare, join(outer.folder, '.git')])
      await refused(base, base, /a worktree needs a checkout of a git repository/);
    await refused(unborn, unborn, /a worktree needs a first commit \(git commit\)/);
  });
});

describe('a worktree is made', () => {
  it('in a submodule with usual settings', async () => {
    assert.ok(existsSync(join(await made(submodule(outer.folder, 'sub')), 'hooks/post-commit')));
  });

  it('although included settings would lead worktrees elsewhere: git does not obey those', async () => {
    const settings = join(place, 'settings');
    writeFileSync(settings, `[core]\n\tworktree = ${place}\n`);
    outer.git('config', 'includeIf.gitdir:**/worktrees/**.path', settings);
    assert.ok(existsSync(join(await made(outer.folder), 'a.txt')));
  });

  it('although variables of git lead elsewhere', async (test) => {
    const other = makeRepository({ 'x.txt': 'other\n' });
    folders.push(other.folder);
    const variables = {
      GIT_DIR: join(other.folder, '.git'),
      GIT_WORK_TREE: other.folder,
      GIT_INDEX_FILE: join(other.folder, 'i'),
    };
    Object.assign(process.env, variables);
    test.after(() => {
      for (const name of Object.keys(variables)) delete process.env[name];
    });
    assert.deepEqual(readdirSync(await made(outer.folder)).sort(), ['.git', 'a.txt', 'sub-folder']);
  });

  it('of a sparse, borrowing, detached checkout and of a worktree beside a bare repository', async () => {
    const other = makeFolder({});
    folders.push(other);
    const clone = join(other, 'clone');
    runGit(other, 'clone', '--quiet', '--shared', outer.folder, clone);
    runGit(clone, 'sparse-checkout', 'set', 'sub-folder');
    runGit(clone, 'checkout', '--quiet', '--detach');
    assert.ok(existsSync(join(await made(clone), 'sub-folder/b.txt')));
    runGit(other, 'clone', '--quiet', '--bare', outer.folder, join(other, 'bare.git'));
    runGit(join(other, 'bare.git'), 'worktree', 'add', '--quiet', join(other, 'tree'));
    assert.ok(existsSync(join(await made(join(other, 'tree', 'sub-folder')), 'b.txt')));
  });
});
