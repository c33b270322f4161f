import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Git, type GitEnd, gitIn, neutralGitIn } from '../../processes/git-command.ts';
import { ProcessLock } from '../../processes/process-lock.ts';
import type { Worktree } from '../../records/agent/task-terms.ts';
import { cutText, listedNames } from '../../records/text/cut-text.ts';
import { AUTHOR, commitWorktree, PLAIN } from './git-worktree.ts';

/**
 * Merges branches of agents into the folder where a person works.
 * M1. Uncommitted work of the person is never touched: a merge begins only without changes to tracked files, and git refuses to overwrite anything else.
 * M2. A merge that does not succeed leaves the branch of the folder at its previous commit.
 * M3. No program that the repository configures is run.
 * M4. An operation that a person began in the folder (a merge, a rebase, …) is never aborted or continued.
 */

/** Maximum characters of a conflict's diff that are reported. */
const MAX_CONFLICT = 12_000;
/** The hint where there is no repository to merge in. */
const REPOSITORY = 'Run this in the repository that the worktrees belong to';
/** Settings that name programs which a merge would run; everybody who works in the repository can write them. */
const PROGRAMS = '^(filter\\..*\\.(smudge|clean|process)|merge\\..*\\.driver)$';
const OWN_SCOPES: ReadonlySet<string> = new Set(['system', 'global', 'command']);
/** Without it, git would inspect submodules and run programs that their settings name. */
const SHALLOW = '--ignore-submodules=dirty';
/** Entries in git's data folder while a command of several steps is under way, and the command. */
const UNDER_WAY = [
  ['MERGE_HEAD', 'merge'],
  ['rebase-merge', 'rebase'],
  ['rebase-apply/applying', 'am'],
  ['rebase-apply', 'rebase'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['sequencer', 'cherry-pick'],
] as const;

export interface MergeTarget {
  readonly git: Git;
  /** The top folder of the repository. */
  readonly folder: string;
  /** The branch that is checked out there. */
  readonly branch: string;
  readonly head: string;
}

type Failed = { readonly ok: false; readonly error: string; readonly hint: string };

/** Takes the lock that one merge at a time holds in a repository, for all of its worktrees. */
export async function mergeLock(
  folder: string,
): Promise<{ readonly ok: true; readonly lock: ProcessLock } | Failed> {
  const common = await gitIn(folder)('rev-parse', '--path-format=absolute', '--git-common-dir');
  if (!common.ok) return outside(folder, common.error);
  const file = join(common.out.trim(), 'coppice-merge');
  try {
    const lock = new ProcessLock(file);
    if (lock.take()) return { ok: true, lock };
    lock.close();
  } catch (error) {
    const hint = 'Coppice must be able to write there';
    return { ok: false, error: `${file} cannot be locked: ${(error as Error).message}`, hint };
  }
  const error = `another coppice merge is running in ${folder}`;
  return { ok: false, error, hint: 'Merge again when it has finished' };
}

function outside(folder: string, error: string): Failed {
  return { ok: false, error: `${folder} is not a git repository: ${error}`, hint: REPOSITORY };
}

/** The repository around a folder, if branches can be merged there now. */
export async function mergeTarget(
  folder: string,
): Promise<{ readonly ok: true; readonly target: MergeTarget } | Failed> {
  const git = await neutralGitIn(folder);
  const failed = (error: string, hint: string): Failed => ({ ok: false, error, hint });
  if ('error' in git) return outside(folder, git.error);
  const top = await git('rev-parse', '--show-toplevel');
  const head = await git('rev-parse', 'HEAD');
  if (!top.ok || !head.ok) return failed(`${folder}: ${errorOf(top, head)}`, REPOSITORY);
  const place = top.out.trim();
  const foreign = await foreignPrograms(git);
  if (foreign !== null)
    return failed(
      `settings of the repository (${foreign}) name a program for merges, which is not run for agents`,
      `Merge by hand: git -C ${place} merge BRANCH`,
    );
  const begun = await underWay(git);
  if (begun !== null)
    return failed(
      `${place} is in the middle of a ${begun}`,
      `Finish it, or undo it with git ${begun} --abort; then merge again`,
    );
  const branch = await git('symbolic-ref', '--short', '--quiet', 'HEAD');
  if (!branch.ok) return failed(`no branch is checked out in ${place}`, 'Switch to one: git switch BRANCH');
  const changed = await git('status', '--porcelain', '--untracked-files=no', SHALLOW);
  if (!changed.ok) return failed(changed.error, 'See: git status');
  if (changed.out !== '')
    return failed(
      `${place} has changes that are not committed: ${listedNames(
        changed.out
          .trimEnd()
          .split('\n')
          .map((line) => line.slice(3)),
      )}`,
      'Commit them, or set them aside with git stash; then merge again',
    );
  return { ok: true, target: { git, folder: place, branch: branch.out.trim(), head: head.out.trim() } };
}

/** The command of several steps that is under way in the folder; null if there is none. */
async function underWay(git: Git): Promise<string | null> {
  const data = await git('rev-parse', '--absolute-git-dir');
  if (!data.ok) return null;
  return UNDER_WAY.find(([name]) => existsSync(join(data.out.trim(), name)))?.[1] ?? null;
}

/** The first setting of the repository itself that names a program for merges; null if there is none. */
async function foreignPrograms(git: Git): Promise<string | null> {
  const found = await git('config', '--show-scope', '--includes', '-z', '--get-regexp', PROGRAMS);
  const parts = found.ok ? found.out.split('\0') : [];
  for (let at = 0; at + 1 < parts.length; at += 2)
    if (!OWN_SCOPES.has(parts[at] ?? '')) return (parts[at + 1] ?? '').split('\n', 1)[0] ?? '';
  return null;
}

export type Merged =
  | { readonly type: 'merged'; readonly commit: string }
  /** The branch holds nothing new. */
  | { readonly type: 'unchanged' }
  | { readonly type: 'conflict'; readonly files: readonly string[]; readonly diff: string }
  | { readonly type: 'failed'; readonly error: string };

/** Commits what is in the worktree, and merges its branch; a conflict is undone (M2). */
export async function mergeWorktree(
  { git, head }: MergeTarget,
  worktree: Pick<Worktree, 'path' | 'branch'>,
  title: string,
): Promise<Merged> {
  const { branch } = worktree;
  const saved = await commitWorktree(worktree, title);
  if (!saved.ok && !saved.gone) return { type: 'failed', error: saved.error };
  if ((await git('merge-base', '--is-ancestor', branch, 'HEAD')).ok) return { type: 'unchanged' };
  const settings = [...AUTHOR, '-c', 'merge.autoStash=false', '-c', 'rerere.enabled=false'];
  const flags = ['--no-ff', '--commit', '--no-squash', '--no-edit', '--no-verify', '--no-verify-signatures'];
  const end = await git(...settings, 'merge', ...flags, '-m', `Merge ${title}`, branch);
  if (end.ok) {
    const commit = await git('rev-parse', 'HEAD');
    return commit.ok
      ? { type: 'merged', commit: commit.out.trim() }
      : { type: 'failed', error: commit.error };
  }
  // Git refused before it began; a merge of another commit is not ours (M4).
  const [tip, merging] = [await git('rev-parse', branch), await git('rev-parse', '--verify', 'MERGE_HEAD')];
  if (!tip.ok || !merging.ok || tip.out !== merging.out) return { type: 'failed', error: end.error };
  const open = await git('diff', SHALLOW, '--name-only', '--diff-filter=U', '-z');
  const files = open.ok ? open.out.split('\0').filter(Boolean) : [];
  const diff = files.length > 0 ? await git('diff', SHALLOW, ...PLAIN) : null;
  await git('merge', '--abort');
  const now = await git('rev-parse', 'HEAD');
  const left = await git('diff', SHALLOW, '--name-only', '--diff-filter=U');
  if (!now.ok || now.out.trim() !== head || !left.ok || left.out !== '')
    return { type: 'failed', error: `the merge could not be undone: git merge --abort (${end.error})` };
  if (files.length === 0) return { type: 'failed', error: end.error };
  return { type: 'conflict', files, diff: diff?.ok === true ? cutText(diff.out, MAX_CONFLICT) : '' };
}

/** Undoes a merge (M1, M2). Resolves to null, or to why not and what to do. */
export async function undoMerge({ git, folder }: MergeTarget, commit: string): Promise<string | null> {
  const now = await git('rev-parse', 'HEAD');
  const by_hand = `git -C ${folder} revert -m 1 ${commit}`;
  if (!now.ok || now.out.trim() !== commit)
    return `the merge stays, because another commit was made meanwhile; undo it with: ${by_hand}`;
  // A reset would abort it (M4).
  const begun = await underWay(git);
  if (begun !== null)
    return `the merge stays, because a ${begun} was begun meanwhile; undo it with: ${by_hand}`;
  // Unlike --hard, it refuses to discard what is not committed.
  const end = await git('reset', '--quiet', '--keep', `${commit}^1`);
  return end.ok
    ? null
    : `the merge stays, because it could not be undone (${end.error}); undo it with: ${by_hand}`;
}

function errorOf(...ends: readonly GitEnd[]): string {
  return ends.flatMap((end) => (end.ok ? [] : [end.error]))[0] ?? '';
}
