import { realpathSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { Worktree } from '../core/task-terms.ts';
import { childEnvironment } from '../tools/child-environment.ts';
import { runProcess } from '../tools/run-process.ts';

const TIMEOUT_MS = 60_000;
const MAX_OUTPUT = 200_000;
/** How much of the changes is told; the branch holds them all. */
const MAX_DIFF = 60_000;
/** The repository's own hooks and monitors are not ours to start. */
const QUIET = ['-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false'];
const AUTHOR = ['-c', 'user.name=Coppice', '-c', 'user.email=coppice@localhost'];

type GitEnd = { readonly ok: true; readonly out: string } | { readonly ok: false; readonly error: string };

async function git(cwd: string, args: readonly string[]): Promise<GitEnd> {
  let [out, problem] = ['', ''];
  const end = await runProcess({
    file: 'git',
    args: [...QUIET, ...args],
    place: cwd,
    env: { ...childEnvironment([]), GIT_TERMINAL_PROMPT: '0' },
    signal: new AbortController().signal,
    timeout_ms: TIMEOUT_MS,
    onOutput: (chunk) => {
      if (out.length < MAX_OUTPUT) out += chunk.toString('utf8');
    },
    onErrorOutput: (chunk) => {
      if (problem.length < MAX_OUTPUT) problem += chunk.toString('utf8');
    },
  });
  if (end.end === 'exited' && end.code === 0) return { ok: true, out };
  if (end.end === 'not_started')
    return { ok: false, error: `git could not be started: ${end.error.message}` };
  return { ok: false, error: problem.trim() || `git ${args[0]} failed` };
}

/** Makes a worktree of the repository around `base` in `folder`, on a branch of its own at the current commit. */
export async function makeWorktree(
  base: string,
  folder: string,
  id: string,
): Promise<
  { readonly ok: true; readonly worktree: Worktree } | { readonly ok: false; readonly error: string }
> {
  const top = await git(base, ['rev-parse', '--show-toplevel']);
  if (!top.ok) return { ok: false, error: `a worktree needs a git repository: ${top.error}` };
  const head = await git(base, ['rev-parse', 'HEAD']);
  if (!head.ok) return { ok: false, error: `a worktree needs a first commit: ${head.error}` };
  const name = id.replaceAll(/[^\w-]/g, '-').slice(-60);
  const branch = `coppice/${name}`;
  const place = join(folder, name);
  await mkdir(dirname(place), { recursive: true, mode: 0o700 });
  const added = await git(base, ['worktree', 'add', '--quiet', '-B', branch, place, head.out.trim()]);
  if (!added.ok) return { ok: false, error: added.error };
  // The same folder inside the worktree as `base` is in the repository.
  const path = realpathSync(join(place, relative(realpathSync(top.out.trim()), realpathSync(base))));
  return { ok: true, worktree: { path, branch, base: head.out.trim() } };
}

/** What was changed in a worktree, for the result of whoever worked there: all of it is committed to the branch, the folder goes. */
export async function closeWorktree({ path, branch, base }: Worktree, title: string): Promise<string> {
  const top = await git(path, ['rev-parse', '--show-toplevel']);
  if (!top.ok) return `[worktree] branch ${branch} could not be read: ${top.error}`;
  const place = top.out.trim();
  await git(place, ['add', '--all']);
  await git(place, [...AUTHOR, 'commit', '--quiet', '--no-verify', '--message', title]);
  const diff = await git(place, ['diff', base, 'HEAD']);
  const common = await git(place, ['rev-parse', '--path-format=absolute', '--git-common-dir']);
  const repository = common.ok ? common.out.trim() : place;
  const gone = await git(repository, ['worktree', 'remove', '--force', place]);
  if (!diff.ok) return `[worktree] branch ${branch}; its changes could not be read: ${diff.error}`;
  if (diff.out === '') {
    if (gone.ok) await git(repository, ['branch', '--quiet', '-D', branch]);
    return '[worktree] nothing was changed';
  }
  const text = diff.out.slice(0, MAX_DIFF).trimEnd();
  const cut = diff.out.length > MAX_DIFF ? `\n… cut; see git diff ${base.slice(0, 12)} ${branch}` : '';
  return `[worktree] branch ${branch}, changes since ${base.slice(0, 12)}:\n${text}${cut}`;
}
