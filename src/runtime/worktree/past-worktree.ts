import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { containPath } from '../../permissions/path-containment.ts';
import { gitIn, neutralGitIn } from '../../processes/git-command.ts';
import { worktreeFolder } from '../../processes/output/spill-folder.ts';
import type { Worktree } from '../../records/agent/task-terms.ts';
import {
  BRANCHES,
  commitWorktree,
  type Made,
  makeWorktree,
  saveWorktree,
  worktreeStart,
} from './git-worktree.ts';

/**
 * Makes a worktree of a repository as it was at a time: the newest commit before it, with these files, by path in `base`, if they changed since that commit.
 * One of that `name` is made anew: it was left by a process that was killed before anybody worked in it.
 */
export async function pastWorktree(
  base: string,
  spill_dir: string,
  name: string,
  at_ms: number,
  filesSince: (commit_ms: number) => Promise<ReadonlyMap<string, string>>,
): Promise<Made> {
  const folder = worktreeFolder(spill_dir);
  await gitIn(base)('worktree', 'remove', '--force', join(folder, name));
  await gitIn(base)('branch', '--quiet', '-D', `${BRANCHES}${name}`);
  const made = await makeWorktree(base, folder, name, at_ms);
  if (!made.ok) return made;
  const { worktree } = made;
  const committed = await gitIn(worktree.path)('show', '--no-patch', '--format=%ct', 'HEAD');
  for (const [path, text] of await filesSince(committed.ok ? Number(committed.out) * 1_000 : 0)) {
    const { absolute } = containPath(worktree.path, path);
    await mkdir(dirname(absolute), { recursive: true });
    await writeFile(absolute, text);
  }
  const saved = await commitWorktree(worktree, 'Files of agents, as they were');
  if (!saved.ok) return saved;
  const head = await saved.git('rev-parse', 'HEAD');
  return head.ok ? { ok: true, worktree: { ...worktree, base: head.out.trim() } } : head;
}

/** Why `pastWorktree` could make none; null if it could. */
export async function noPastWorktree(base: string, at_ms: number): Promise<string | null> {
  const start = await worktreeStart(base, at_ms);
  return start.ok ? null : start.error;
}

/** Commits what agents changed and does a check, whose changes are taken back, except in ignored files. `files`: those that the agents changed. */
export async function savedAndChecked<Found>(
  worktree: Worktree,
  title: string,
  check: () => Promise<Found>,
): Promise<{ readonly files: readonly string[]; readonly found: Found }> {
  const { files } = await saveWorktree(worktree, title);
  const found = await check();
  const git = await neutralGitIn(worktree.path);
  if (!('error' in git)) {
    await git('reset', '--quiet', '--hard');
    await git('clean', '--quiet', '-d', '--force');
  }
  return { files, found };
}
