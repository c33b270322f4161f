// Proves that a merge leaves a person's concurrent git operations alone, reverts only itself, and runs nothing that a submodule configures.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, it } from 'node:test';
import type { Worktree } from '../../../src/records/agent/task-terms.ts';
import {
  type MergeTarget,
  mergeTarget,
  mergeWorktree,
  undoMerge,
} from '../../../src/runtime/worktree/branch-merge.ts';
import { makeWorktree } from '../../../src/runtime/worktree/git-worktree.ts';
import { makeFolder } from '../project-folder.ts';
import { makeRepository, type Repository, runGit } from './git-repository.ts';

let repository: Repository;
let place: string;
let worktree: Worktree;
beforeEach(async () => {
  repository = makeRepository({ 'a.txt': 'one\n' });
  repository.git('branch', 'side');
  place = makeFolder({});
  const made = await makeWorktree(repository.folder, place, 'agent-call-0');
  assert.ok(made.ok, JSON.stringify(made));
  worktree = made.worktree;
  writeFileSync(join(worktree.path, 'new.txt'), 'new\n');
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

async function target(): Promise<MergeTarget> {
  const found = await mergeTarget(repository.folder);
  assert.ok(found.ok, JSON.stringify(found));
  return found.target;
}

/** Commits a file on the branch `side`. */
function commitAside(file: string, text: string): void {
  const { git, folder } = repository;
  git('checkout', '--quiet', 'side');
  writeFileSync(join(folder, file), text);
  git('add', '--all');
  git('commit', '--quiet', '--message', 'aside');
  git('checkout', '--quiet', 'main');
}

it('nothing begins in the middle of what a person began', async () => {
  const { git, folder } = repository;
  commitAside('a.txt', 'aside\n');
  writeFileSync(join(folder, 'a.txt'), 'two\n');
  git('commit', '--quiet', '--all', '--message', 'second');
  for (const command of ['merge', 'rebase', 'cherry-pick', 'revert']) {
    assert.throws(
      () => git(command, ...(command === 'revert' ? ['--no-edit', 'HEAD~1'] : ['side'])),
      command,
    );
    const refused = await mergeTarget(folder);
    assert.ok(!refused.ok, command);
    assert.ok(refused.error.endsWith(`is in the middle of a ${command}`), refused.error);
    git(command, '--abort');
    await target();
  }
});

it('a merge that a person begins while another one is tried stays', async () => {
  commitAside('b.txt', 'aside\n');
  const before = await target();
  repository.git('merge', '--quiet', '--no-commit', '--no-ff', 'side');
  const merged = await mergeWorktree(before, worktree, 'x');
  assert.ok(merged.type === 'failed' && /MERGE_HEAD/.test(merged.error), JSON.stringify(merged));
  assert.equal(repository.git('rev-parse', 'MERGE_HEAD'), repository.git('rev-parse', 'side'));
  assert.equal(repository.git('status', '--porcelain'), 'A  b.txt\n');
});

it('a commit that a person makes just before the merge is not taken back with it', async () => {
  const before = await target();
  repository.git('commit', '--quiet', '--allow-empty', '--message', 'mine');
  const mine = repository.git('rev-parse', 'HEAD');
  const merged = await mergeWorktree(before, worktree, 'x');
  assert.ok(merged.type === 'merged');
  assert.equal(await undoMerge(before, merged.commit), null);
  assert.equal(repository.git('rev-parse', 'HEAD'), mine);
});

it('what a person begins while the test runs is not ended by taking the merge back', async () => {
  commitAside('a.txt', 'aside\n');
  writeFileSync(join(worktree.path, 'a.txt'), 'changed\n');
  const before = await target();
  const merged = await mergeWorktree(before, worktree, 'x');
  assert.ok(merged.type === 'merged');
  assert.throws(() => repository.git('cherry-pick', 'side'));
  assert.match(
    (await undoMerge(before, merged.commit)) ?? '',
    /the merge stays, because a cherry-pick was begun meanwhile; undo it with: git -C .* revert -m 1/,
  );
  assert.equal(repository.git('rev-parse', 'CHERRY_PICK_HEAD'), repository.git('rev-parse', 'side'));
});

it('runs no filter of a submodule', async () => {
  const { folder } = repository;
  const [nested, trace] = [join(folder, 'nested'), join(place, 'ran')];
  mkdirSync(nested);
  const git = (...args: string[]) => runGit(nested, ...args);
  git('init', '--quiet');
  writeFileSync(join(nested, 'b.txt'), 'one\n');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'first');
  repository.git('add', '--all');
  repository.git('commit', '--quiet', '--message', 'with a submodule');
  git('config', 'filter.inner.clean', `touch ${trace}; cat`);
  writeFileSync(join(nested, '.git', 'info', 'attributes'), '* filter=inner\n');
  // Git compares contents, and therefore runs filters, if only the modification time differs.
  utimesSync(join(nested, 'b.txt'), 1, 1);
  writeFileSync(join(folder, 'new.txt'), 'mine\n');
  repository.git('add', 'new.txt');
  repository.git('commit', '--quiet', '--message', 'mine');
  rmSync(trace, { force: true });
  utimesSync(join(nested, 'b.txt'), 2, 2);

  const conflict = await mergeWorktree(await target(), worktree, 'x');
  assert.equal(conflict.type, 'conflict');
  assert.equal(existsSync(trace), false);
  repository.git('status');
  assert.equal(existsSync(trace), true, 'the trace would be seen');
});
