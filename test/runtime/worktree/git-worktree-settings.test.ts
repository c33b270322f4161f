/**
 * Proves that making, saving and removing a worktree runs nothing that the repository configures (filters, hooks, monitors, external diffs), but does run
 * the user's own filters.
 */
import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, it } from 'node:test';
import { makeWorktree, removeWorktree, saveWorktree } from '../../../src/runtime/worktree/git-worktree.ts';
import { makeFolder } from '../project-folder.ts';
import { makeRepository, type Repository, runGit } from './git-repository.ts';

let repository: Repository;
let place: string;
let traces: string;

beforeEach(() => {
  repository = makeRepository({
    'a.txt': 'one\n',
    '.gitattributes': '*.txt filter=evil diff=evil\n*.bin filter=a=b.c\n*.far filter=far\n',
    'b.bin': 'two\n',
    'c.far': 'three\n',
  });
  place = makeFolder({});
  traces = makeFolder({});
});
afterEach(() => {
  for (const folder of [place, traces]) rmSync(folder, { recursive: true, force: true });
});

/** A filter program that leaves a trace file and passes its input through. */
function tracer(name: string): string {
  const file = join(traces, `${name}.sh`);
  writeFileSync(file, `#!/bin/sh\ntouch ${join(traces, name)}.ran\nexec cat\n`);
  chmodSync(file, 0o755);
  return file;
}

const ran = (): string[] => readdirSync(traces).filter((name) => name.endsWith('.ran'));

async function workThrough(change: (path: string) => void): Promise<string> {
  const made = await makeWorktree(repository.folder, place, 'agent-call-0');
  assert.ok(made.ok, JSON.stringify(made));
  assert.equal(readFileSync(join(made.worktree.path, 'a.txt'), 'utf8'), 'one\n');
  change(made.worktree.path);
  const { text } = await saveWorktree(made.worktree, 'reviewer');
  await removeWorktree(made.worktree);
  assert.equal(existsSync(made.worktree.path), false, text);
  return text;
}

it('runs no program that the configuration of a repository names', async () => {
  const { git } = repository;
  for (const driver of ['evil', 'a=b.c'])
    for (const kind of ['smudge', 'clean', 'process'])
      git('config', `filter.${driver}.${kind}`, tracer(`${kind}-${driver[0]}`));
  git('config', 'filter.evil.required', 'true');
  // Settings that apply in worktrees only.
  const far = join(traces, 'far.config');
  writeFileSync(
    far,
    `[filter "far"]\n\tsmudge = ${tracer('far')}\n\tclean = ${tracer('far')}\n\trequired = true\n`,
  );
  git('config', 'includeIf.gitdir:**/worktrees/**.path', far);
  git('config', 'core.fsmonitor', tracer('fsmonitor'));
  git('config', 'diff.external', tracer('external'));
  git('config', 'diff.evil.textconv', tracer('textconv'));
  git('config', 'diff.evil.command', tracer('command'));
  git('config', 'core.editor', tracer('editor'));
  git('config', 'core.pager', tracer('pager'));
  git('config', 'hook.evil.command', tracer('configured-hook'));
  git('config', 'hook.evil.event', 'post-checkout');
  git('config', 'gc.auto', '1');
  const hooks = join(repository.folder, 'hooks');
  mkdirSync(hooks);
  for (const hook of [
    'post-checkout',
    'pre-commit',
    'prepare-commit-msg',
    'commit-msg',
    'post-commit',
    'post-index-change',
    'reference-transaction',
    'pre-auto-gc',
  ]) {
    for (const folder of [hooks, join(repository.folder, '.git', 'hooks')]) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, hook), readFileSync(tracer(hook)));
      chmodSync(join(folder, hook), 0o755);
    }
  }
  git('config', 'core.hooksPath', 'hooks');
  // Git itself runs them, which proves that a run would leave a trace.
  rmSync(join(repository.folder, 'a.txt'));
  assert.throws(() => git('checkout', '--', 'a.txt'));
  assert.ok(ran().length > 0);
  for (const name of ran()) rmSync(join(traces, name));

  const text = await workThrough((path) => {
    for (const name of ['a.txt', 'b.bin', 'c.far', 'new.txt']) writeFileSync(join(path, name), 'changed\n');
  });
  assert.deepEqual(ran(), []);
  assert.equal(text.match(/\n\+changed/g)?.length, 4, text);
});

it('runs no filter that is set while an agent works', async () => {
  await workThrough((path) => {
    repository.git('config', 'filter.late.clean', tracer('late'));
    writeFileSync(join(path, '.gitattributes'), '* filter=late\n');
    writeFileSync(join(path, 'a.txt'), 'changed\n');
  });
  assert.deepEqual(ran(), []);
});

it('runs no filter of a repository that an agent made in its worktree, whose commits are not lost with the folder', async () => {
  for (const [at, name] of ['nested', 'n\u00e4h', 'a\nb'].entries()) {
    const made = await makeWorktree(repository.folder, place, `agent-call-${at}`);
    assert.ok(made.ok, JSON.stringify(made));
    const nested = join(made.worktree.path, name);
    mkdirSync(nested);
    const git = (...args: string[]) => runGit(nested, ...args);
    git('init', '--quiet');
    writeFileSync(join(nested, 'a.txt'), 'one\n');
    git('add', '--all');
    git('commit', '--quiet', '--message', 'first');
    if (at === 0) runGit(made.worktree.path, 'add', '--all');
    git('config', 'filter.inner.clean', tracer('inner'));
    writeFileSync(join(nested, '.git', 'info', 'attributes'), '* filter=inner\n');
    // Git compares contents, and therefore runs filters, if only the modification time differs.
    utimesSync(join(nested, 'a.txt'), 1, 1);
    const { text } = await saveWorktree(made.worktree, 'reviewer');
    assert.match(text, /is a git repository of its own.*so its folder stays/s);
    await removeWorktree(made.worktree);
    assert.ok(existsSync(join(nested, '.git')));
    assert.deepEqual(ran(), []);
    // Git itself runs the filter, which proves that a run would leave a trace.
    runGit(nested, 'status');
    assert.deepEqual(ran(), ['inner.ran']);
    rmSync(join(traces, 'inner.ran'));
  }
});

it('runs filters of the configuration of the user, whatever a repository sets under their names', async () => {
  const home = makeFolder({ '.gitconfig': `[filter "evil"]\n\tsmudge = ${tracer('own')}\n` });
  const before = process.env.HOME;
  process.env.HOME = home;
  try {
    repository.git('config', 'filter.evil.smudge', tracer('other'));
    await workThrough(() => undefined);
    assert.deepEqual(ran(), ['own.ran']);
  } finally {
    process.env.HOME = before;
  }
});

it('no setting leads an agent out of its worktree', async () => {
  mkdirSync(join(repository.folder, 'x/y/z'), { recursive: true });
  repository.git('config', 'core.worktree', join(repository.folder, 'x/y/z'));
  const made = await makeWorktree(repository.folder, place, 'agent-call-0');
  assert.ok(!made.ok);
  assert.match(made.error, /core\.worktree/);
});
