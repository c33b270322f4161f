// Proves that worktrees lose nobody's work: existing branch names, changes that cannot be committed, commits elsewhere, hostile settings.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { Worktree } from '../../../src/records/agent/task-terms.ts';
import { makeWorktree, removeWorktree, saveWorktree } from '../../../src/runtime/worktree/git-worktree.ts';
import { makeFolder } from '../project-folder.ts';
import { makeRepository, type Repository } from './git-repository.ts';

describe('worktrees', () => {
  let repository: Repository;
  let place: string;
  beforeEach(() => {
    repository = makeRepository({ 'a.txt': 'one\n', 'src/b.txt': 'two\n' });
    place = makeFolder({});
  });
  afterEach(() => {
    rmSync(place, { recursive: true, force: true });
  });

  async function make(id = 'agent-call-0', base = repository.folder): Promise<Worktree> {
    const made = await makeWorktree(base, place, id);
    assert.ok(made.ok, JSON.stringify(made));
    return made.worktree;
  }

  const gitIn = ({ path }: Worktree, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@localhost', ...args], {
      cwd: path,
      encoding: 'utf8',
    });

  it('additions, changes, removals and commits are reported and kept on the branch; the folder is removed', async () => {
    const made = await make();
    writeFileSync(join(made.path, 'a.txt'), 'changed\n');
    gitIn(made, 'commit', '--quiet', '--all', '--message', 'own');
    writeFileSync(join(made.path, 'new.txt'), 'new\n');
    rmSync(join(made.path, 'src', 'b.txt'));
    const { text, files } = await saveWorktree(made, 'reviewer');
    assert.deepEqual(files, ['a.txt', 'new.txt', 'src/b.txt']);
    assert.ok(
      text.startsWith(`[worktree] branch ${made.branch}, changes since ${made.base.slice(0, 12)}:\ndiff`),
    );
    for (const line of ['-one', '+changed', '+new', '-two']) assert.ok(text.includes(`\n${line}`), line);
    assert.ok(existsSync(made.path), 'it stays until the result counts');
    await removeWorktree(made);
    assert.deepEqual([repository.worktrees(), repository.branches()], [[], [made.branch]]);
    assert.equal(repository.git('show', `${made.branch}:new.txt`), 'new\n');
    assert.equal(repository.git('log', '-1', '--format=%s %an', made.branch), 'reviewer Coppice\n');
    assert.equal(repository.git('status', '--porcelain'), '', 'the repository itself is untouched');
  });

  it('without changes it says so, and removes folder and branch', async () => {
    const made = await make();
    assert.deepEqual(await saveWorktree(made, 'x'), { text: '[worktree] nothing was changed', files: [] });
    await removeWorktree(made);
    assert.deepEqual([repository.worktrees(), repository.branches()], [[], []]);
  });

  it('leaves an existing branch unchanged, whatever it holds', async () => {
    const first = await make('same');
    writeFileSync(join(first.path, 'new.txt'), 'precious\n');
    await saveWorktree(first, 'x');
    await removeWorktree(first);
    const [second, third] = [await make('same'), await make('same')];
    assert.deepEqual(
      [first, second, third].map(({ branch }) => branch),
      ['coppice/same', 'coppice/same-2', 'coppice/same-3'],
    );
    assert.equal(repository.git('show', 'coppice/same:new.txt'), 'precious\n');
    assert.equal(existsSync(join(second.path, 'new.txt')), false);
  });

  it('creates many at once in one repository', async () => {
    const made = await Promise.all(Array.from({ length: 8 }, (_, index) => make(`n${index}`)));
    assert.equal(new Set(made.map(({ path }) => path)).size, 8);
    await Promise.all(
      made.map(async (one, index) => {
        writeFileSync(join(one.path, 'a.txt'), `${index}\n`);
        await saveWorktree(one, `n${index}`);
        await removeWorktree(one);
      }),
    );
    assert.deepEqual([repository.worktrees(), repository.branches().length], [[], 8]);
    for (const [index, { branch }] of made.entries())
      assert.equal(repository.git('show', `${branch}:a.txt`), `${index}\n`);
  });

  it('a folder of the repository maps to the same folder of the worktree', async () => {
    const made = await make('inner', join(repository.folder, 'src'));
    assert.ok(existsSync(join(made.path, 'b.txt')));
    writeFileSync(join(made.path, '..', 'a.txt'), 'above\n');
    assert.match((await saveWorktree(made, 'x')).text, /\+above/);
  });

  it('changes that cannot be committed stay in the folder, and the text says where', async () => {
    const made = await make();
    writeFileSync(join(made.path, 'new.txt'), 'precious\n');
    const lock = join(gitIn(made, 'rev-parse', '--absolute-git-dir').trim(), 'index.lock');
    writeFileSync(lock, '');
    const { text } = await saveWorktree(made, 'x');
    assert.ok(text.includes(made.branch) && text.includes(made.path), text);
    await removeWorktree(made);
    assert.ok(existsSync(join(made.path, 'new.txt')));
  });

  it('commits that are not on its branch stay reachable: the folder stays', async () => {
    const made = await make();
    gitIn(made, 'checkout', '--quiet', '--detach');
    writeFileSync(join(made.path, 'new.txt'), 'precious\n');
    const { text } = await saveWorktree(made, 'x');
    assert.match(text, /another commit is checked out there, so its folder stays/);
    await removeWorktree(made);
    assert.ok(existsSync(join(made.path, 'new.txt')));
  });

  it('a submodule or a link that both sides moved is a conflict, and one that the agent removed is none', async () => {
    const { git, folder } = repository;
    const moves = {
      submodule: (name: string) =>
        git('update-index', '--add', '--cacheinfo', `160000,${git('hash-object', name).trim()},place`),
      link: (name: string) => {
        rmSync(join(folder, 'place'), { force: true });
        symlinkSync(name === 'a.txt' ? 'src' : '.', join(folder, 'place'));
        git('add', 'place');
      },
    };
    for (const [kind, move] of Object.entries(moves)) {
      git('checkout', '--quiet', '-b', kind);
      move('src/b.txt');
      git('commit', '--quiet', '--message', 'moved');
      git('checkout', '--quiet', '--force', 'main');
      git('checkout', '--quiet', '-b', `own-${kind}`);
      move('a.txt');
      git('commit', '--quiet', '--message', 'moved as well');
      const made = await make(kind);
      assert.throws(() => gitIn(made, 'merge', '--quiet', kind), kind);
      const { text } = await saveWorktree(made, 'x');
      assert.match(text, /conflicts in place are not resolved, so its folder stays/);
      rmSync(join(made.path, 'place'), { recursive: true });
      assert.doesNotMatch((await saveWorktree(made, 'x')).text, /conflicts/);
      git('checkout', '--quiet', '--force', 'main');
    }
  });

  it('keeps the rest when the agent removed the folder that it began in', async () => {
    const made = await make('inner', join(repository.folder, 'src'));
    writeFileSync(join(made.path, '..', 'new.txt'), 'precious\n');
    rmSync(made.path, { recursive: true });
    const { text } = await saveWorktree(made, 'x');
    assert.ok(text.includes('\n-two') && text.includes('\n+precious'), text);
    await removeWorktree(made);
    assert.deepEqual(repository.worktrees(), []);
  });

  it('does not touch an enclosing repository when the agent removed the link to its own', async () => {
    const outer = makeRepository({ '.gitignore': '', 'mine.txt': 'mine\n' });
    const made = await makeWorktree(repository.folder, join(outer.folder, 'worktrees'), 'x');
    assert.ok(made.ok);
    rmSync(join(made.worktree.path, '.git'));
    writeFileSync(join(made.worktree.path, 'new.txt'), 'precious\n');
    assert.match((await saveWorktree(made.worktree, 'x')).text, /is no longer a worktree/);
    await removeWorktree(made.worktree);
    assert.ok(existsSync(join(made.worktree.path, 'new.txt')));
    assert.equal(outer.git('log', '--format=%s'), 'first\n');
  });

  it('creates an empty folder that git does not track', async () => {
    mkdirSync(join(repository.folder, 'empty', 'inside'), { recursive: true });
    const made = await make('empty', join(repository.folder, 'empty', 'inside'));
    assert.ok(existsSync(made.path) && made.path.endsWith('/empty/inside'));
  });

  it('does not run hooks, signing and external diffs of the repository', async () => {
    const made = await make();
    const hooks = join(repository.folder, '.git', 'hooks');
    mkdirSync(hooks, { recursive: true });
    for (const hook of ['pre-commit', 'post-commit', 'post-checkout']) {
      writeFileSync(join(hooks, hook), `#!/bin/sh\ntouch ${join(place, 'ran')}\nexit 1\n`);
      chmodSync(join(hooks, hook), 0o755);
    }
    for (const [key, value] of [
      ['commit.gpgsign', 'true'],
      ['gpg.program', 'false'],
      ['diff.external', 'false'],
      ['color.ui', 'always'],
    ] as const)
      repository.git('config', key, value);
    writeFileSync(join(made.path, 'new.txt'), 'new\n');
    assert.match((await saveWorktree(made, 'x')).text, /\n\+new/);
    await make('another');
    assert.equal(existsSync(join(place, 'ran')), false);
  });

  it('truncates a diff larger than a result, and the text says where all of it is', async () => {
    const made = await make();
    writeFileSync(join(made.path, 'big.txt'), 'line\n'.repeat(100_000));
    const { text } = await saveWorktree(made, 'x');
    assert.ok(text.length < 70_000);
    assert.ok(text.endsWith(`… cut; see git diff ${made.base.slice(0, 12)} ${made.branch}`));
  });

  it('says what is missing without a repository or before its first commit', async () => {
    const plain = makeFolder({});
    const outside = await makeWorktree(plain, place, 'x');
    assert.ok(!outside.ok && /needs a checkout of a git repository/.test(outside.error));
    execFileSync('git', ['init', '--quiet'], { cwd: plain });
    const empty = await makeWorktree(plain, place, 'x');
    assert.ok(!empty.ok && /needs a first commit/.test(empty.error));
    rmSync(plain, { recursive: true });
  });
});
