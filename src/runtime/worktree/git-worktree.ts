import { type Dirent, existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { type Git, gitIn, neutralGitIn } from '../../processes/git-command.ts';
import type { Worktree } from '../../records/agent/task-terms.ts';
import { cutText } from '../../records/text/cut-text.ts';
import { SerialQueue } from '../serial-queue.ts';

/** Maximum characters of changes that are reported; the branch has all of them. */
const MAX_DIFF = 60_000;
/** Maximum worktrees of one name. */
const MAX_COPIES = 100;
export const AUTHOR = ['-c', 'user.name=Coppice', '-c', 'user.email=coppice@localhost'];
export const BRANCHES = 'coppice/';
export const PLAIN = ['--no-ext-diff', '--no-textconv', '--no-color'];

/** Name of the entry that holds a repository's data or refers to it. */
const LINK = Buffer.from('.git');

type Place = Pick<Worktree, 'path' | 'branch'>;

/** Git fails on worktrees that another git is just making or removing, so this process makes and removes them one at a time. */
const changes = new SerialQueue();

export type Made =
  | { readonly ok: true; readonly worktree: Worktree }
  | { readonly ok: false; readonly error: string };

/** What worktrees of the repository that contains `base` begin from: its current commit, or the newest one before `at_ms`. */
export async function worktreeStart(base: string, at_ms?: number) {
  const failed = (error: string) => ({ ok: false, error }) as const;
  const git = gitIn(base);
  const source = await placesOf(git);
  if ('error' in source)
    return failed(`a worktree needs a checkout of a git repository with a first commit: ${source.error}`);
  const within = relative(realpathSync(source.top), realpathSync(base));
  if (within.split(sep)[0] === '..')
    return failed(
      `core.worktree of the repository leads away from ${base}: ${leaveWorktreeUnset(source.common)}`,
    );
  const before = at_ms === undefined ? [] : [`--before=${Math.floor(at_ms / 1_000)}`];
  const head = await git('rev-list', '-1', ...before, 'HEAD', '--');
  if (!head.ok) return failed(`a worktree needs a first commit (git commit): ${head.error}`);
  if (head.out === '') return failed('the repository had no commit then');
  return { ok: true, source, within, commit: head.out.trim() } as const;
}

/** Makes a worktree in `folder` of the repository that contains `base`, on a branch of its own. */
export async function makeWorktree(base: string, folder: string, id: string, at_ms?: number): Promise<Made> {
  const start = await worktreeStart(base, at_ms);
  if (!start.ok) return start;
  const { source, within, commit } = start;
  // The first nine characters are kept: they identify the agent that made the worktree.
  const name = id.replaceAll(/[^\w-]/g, '-').replace(/^(.{9}).*(.{51})$/, '$1$2');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return changes.run(() => addWorktree(base, source, within, commit, folder, name));
}

async function addWorktree(
  base: string,
  source: CheckoutPlaces,
  within: string,
  commit: string,
  folder: string,
  name: string,
): Promise<Made> {
  let error = 'no name is free';
  // Models may repeat call ids: a branch that exists holds somebody's work and is left alone.
  for (let copy = 1; copy <= MAX_COPIES; copy += 1) {
    const own = copy === 1 ? name : `${name}-${copy}`;
    const branch = `${BRANCHES}${own}`;
    const place = join(folder, own);
    const added = await gitIn(base)(
      'worktree',
      'add',
      '--quiet',
      '--no-checkout',
      '-b',
      branch,
      place,
      commit,
    );
    if (added.ok) {
      const problem = (await astray(place, source)) ?? (await fill(place, within));
      if (problem === null)
        return { ok: true, worktree: { path: realpathSync(join(place, within)), branch, base: commit } };
      await gitIn(base)('worktree', 'remove', '--force', place);
      await gitIn(base)('branch', '--quiet', '-D', branch);
      return { ok: false, error: `no worktree was made: ${problem}` };
    }
    error = added.error;
    if (!error.includes('already exists')) break;
  }
  return { ok: false, error };
}

/** Checks out the files, with the settings of the worktree itself: some apply there alone. Resolves to null, or to what went wrong. */
async function fill(place: string, within: string): Promise<string | null> {
  const git = await neutralGitIn(place);
  if ('error' in git) return git.error;
  const filled = await git('reset', '--quiet', '--hard');
  if (!filled.ok) return filled.error;
  // The folder that corresponds to the creator's; git does not create empty or ignored ones. The commit may have a link in its place.
  const path = join(realpathSync(place), within);
  let there = path;
  while (lstatSync(there, { throwIfNoEntry: false }) === undefined) there = dirname(there);
  if (realpathSync(there) !== there || !lstatSync(there).isDirectory())
    return `in the last commit, ${within} is a file or a link: commit the folder that you work in`;
  await mkdir(path, { recursive: true });
  return null;
}

/** `gone`: the folder no longer exists, but the branch may have all of the work. */
type Committed =
  | { readonly ok: true; readonly git: Git }
  | { readonly ok: false; readonly gone: boolean; readonly error: string };

/** Commits all changes of a worktree to its branch. The folder stays. */
export async function commitWorktree(worktree: Place, title: string): Promise<Committed> {
  const failed = (error: string, gone = false): Committed => ({ ok: false, gone, error });
  const opened = await openWorktree(worktree);
  if (!opened.ok)
    return opened.place === null
      ? failed(opened.error, true)
      : failed(`nothing could be committed (${opened.error}), so its folder stays: ${opened.place}`);
  const { git, place } = opened;
  const open_conflict = await conflictIn(git, place);
  if (open_conflict !== null)
    return failed(`conflicts in ${open_conflict} are not resolved, so its folder stays: ${place}`);
  await git('add', '--all');
  await git(...AUTHOR, 'commit', '--quiet', '--no-verify', '--message', title);
  const open = await unsaved(git, worktree.branch);
  return open === null ? { ok: true, git } : failed(`${open}, so its folder stays: ${place}`);
}

/** `place`: the top folder of the worktree; null if it is no worktree any more. */
type Opened =
  | { readonly ok: true; readonly git: Git; readonly place: string }
  | { readonly ok: false; readonly error: string; readonly place: string | null };

async function openWorktree(worktree: Place): Promise<Opened> {
  const place = await topOf(worktree);
  const failed = (error: string): Opened => ({ ok: false, error, place });
  if (place === null) return failed(`its folder ${worktree.path} is no longer a worktree`);
  const git = await neutralGitIn(place);
  if ('error' in git) return failed(git.error);
  const nested = await nestedRepository(place);
  return nested === null ? { ok: true, git, place } : failed(nested);
}

/**
 * Describes a repository nested in a worktree, such as a clone that an agent made or a submodule that it filled, or a folder that cannot be
 * read; null if there is none. Git would run the programs that its settings name, and its commits would be lost with the folder.
 */
async function nestedRepository(place: string): Promise<string | null> {
  // Names need not be UTF-8.
  const folders = [Buffer.from(place)];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const inside = Buffer.concat([folder, Buffer.from(sep)]);
    let entries: Dirent<Buffer>[];
    try {
      entries = await readdir(folder, { withFileTypes: true, encoding: 'buffer' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') continue;
      return (error as Error).message;
    }
    for (const entry of entries) {
      const here = Buffer.concat([inside, entry.name]);
      if (entry.name.equals(LINK)) {
        const within = relative(place, folder.toString());
        if (within !== '') return `${within} in it is a git repository of its own`;
      } else if (entry.isDirectory()) folders.push(here);
    }
  }
  return null;
}

/** A conflicted path that `git add` would settle although nobody has: a file with conflict markers, or what is no readable file, such as a submodule. */
async function conflictIn(git: Git, place: string): Promise<string | null> {
  const open = await git('diff', '--name-only', '--diff-filter=U', '-z');
  const paths = open.ok ? open.out.split('\0').filter((path) => path !== '') : [];
  return paths.find((path) => isUnresolved(join(place, path))) ?? null;
}

/** A removed path is resolved. Links are not followed: they cannot have markers, and may lead anywhere. */
function isUnresolved(path: string): boolean {
  try {
    return !lstatSync(path).isFile() || /^<<<<<<< /m.test(readFileSync(path, 'utf8'));
  } catch (error) {
    return !['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
  }
}

/** Changes for the agent's result, and the paths of the changed files from the top of the worktree. */
export interface SavedWork {
  readonly text: string;
  readonly files: readonly string[];
}

/** Commits all changes of a worktree to its branch, and returns them. */
export async function saveWorktree(worktree: Worktree, title: string): Promise<SavedWork> {
  const { branch, base } = worktree;
  const none = (text: string): SavedWork => ({ text: `[worktree] ${text}`, files: [] });
  const saved = await commitWorktree(worktree, title);
  if (!saved.ok) return none(`branch ${branch}; ${saved.error}`);
  const { git } = saved;
  const diff = await git('diff', ...PLAIN, base, 'HEAD');
  if (!diff.ok) return none(`branch ${branch}; its changes could not be read: ${diff.error}`);
  if (diff.out === '') return none('nothing was changed');
  const names = await git('diff', ...PLAIN, '--name-only', '-z', base, 'HEAD');
  const files = names.ok ? names.out.split('\0').filter((name) => name !== '') : [];
  const text = cutText(diff.out, MAX_DIFF).trimEnd();
  const cut = diff.out.length > MAX_DIFF ? `\n… cut; see git diff ${base.slice(0, 12)} ${branch}` : '';
  return { ...none(`branch ${branch}, changes since ${base.slice(0, 12)}:\n${text}${cut}`), files };
}

/**
 * The top folder of a worktree, even if its agent removed the folder that it began in; null if it is no worktree any more. An
 * agent may have removed the link to the repository: then git finds an enclosing repository, which must not be touched.
 */
async function topOf({ path, branch }: Place): Promise<string | null> {
  const name = branch.slice(BRANCHES.length);
  let place = path;
  while (basename(place) !== name && dirname(place) !== place) place = dirname(place);
  if (!existsSync(place)) return null;
  const top = await gitIn(place)('rev-parse', '--show-toplevel');
  return top.ok && top.out.trim() === place ? place : null;
}

/** Reason why the branch does not hold all work of the worktree; null if it does. */
async function unsaved(git: Git, branch: string): Promise<string | null> {
  const status = await git('status', '--porcelain');
  if (!status.ok || status.out !== '') return 'not all of it is committed';
  const head = await git('symbolic-ref', '--short', '--quiet', 'HEAD');
  return head.ok && head.out.trim() === branch ? null : 'another commit is checked out there';
}

interface RemovalTerms {
  /**
   * Removes the worktree only if a branch that belongs to no agent has its commits, and
   * deletes its own branch, too. Default: its own branch keeps the commits.
   */
  readonly merged?: boolean;
  readonly dry_run?: boolean;
}

/**
 * Removes the folder of a worktree whose branch holds all work, and the branch if it
 * has no commits of its own. Resolves to null, or to why the worktree stays.
 */
export function removeWorktree(worktree: Worktree, terms: RemovalTerms = {}): Promise<string | null> {
  return changes.run(() => remove(worktree, terms));
}

async function remove(
  { path, branch, base }: Worktree,
  { merged = false, dry_run = false }: RemovalTerms,
): Promise<string | null> {
  const opened = await openWorktree({ path, branch });
  if (!opened.ok) return opened.error;
  const { git, place } = opened;
  const open = await unsaved(git, branch);
  if (open !== null) return open;
  const head = await git('rev-parse', 'HEAD');
  const common = await git('rev-parse', '--path-format=absolute', '--git-common-dir');
  if (!head.ok) return head.error;
  if (!common.ok) return common.error;
  const needless = head.out.trim() === base || (merged && (await isHeldElsewhere(git)));
  if (merged && !needless) return 'its branch is not merged';
  if (dry_run) return null;
  const repository = common.out.trim();
  const gone = await gitIn(repository)('worktree', 'remove', '--force', place);
  if (!gone.ok) return gone.error;
  if (needless) await gitIn(repository)('branch', '--quiet', '-D', branch);
  return null;
}

/** Whether a branch that belongs to no agent has all commits of the worktree. */
async function isHeldElsewhere(git: Git): Promise<boolean> {
  const others = [`--exclude=${BRANCHES}*`, '--branches', `--exclude=*/${BRANCHES}*`, '--remotes'];
  const missing = await git('rev-list', '--max-count=1', 'HEAD', '--not', ...others);
  return missing.ok && missing.out === '';
}

/** The top folder of a checkout, its own folder of git's data, and the one that all checkouts of the repository share: canonical paths. */
interface CheckoutPlaces {
  readonly top: string;
  readonly own: string;
  readonly common: string;
}

async function placesOf(git: Git): Promise<CheckoutPlaces | { readonly error: string }> {
  const places: string[] = [];
  for (const question of ['--show-toplevel', '--git-dir', '--git-common-dir']) {
    const answer = await git('rev-parse', '--path-format=absolute', question);
    if (!answer.ok) return { error: answer.error };
    const path = answer.out.replace(/\n$/, '');
    if (!existsSync(path)) return { error: `${path} does not exist` };
    places.push(realpathSync(path));
  }
  const [top, own, common] = places as [string, string, string];
  return { top, own, common };
}

/**
 * Reason why git, asked in a worktree just made, would not work on its files alone; null if it would. Settings of the
 * repository (`core.worktree`) can lead a new worktree elsewhere although the checkout that it was made from is in order. Nothing else runs in it before.
 */
async function astray(place: string, { common }: CheckoutPlaces): Promise<string | null> {
  const made = await placesOf(gitIn(place));
  if ('error' in made)
    return `git does not work in the new worktree (${made.error}); if its settings have core.worktree: ${leaveWorktreeUnset(common)}`;
  const top = realpathSync(place);
  if (made.top !== top)
    return `its settings (core.worktree) lead git from the new worktree to ${made.top}, where it would overwrite files: ${leaveWorktreeUnset(common)}`;
  if (made.common !== common || dirname(made.own) !== join(common, 'worktrees'))
    return `git in the new worktree uses ${made.own} instead of a folder of its own in ${join(common, 'worktrees')}`;
  return null;
}

function leaveWorktreeUnset(common: string): string {
  return `in a submodule with extensions.worktreeConfig, move the setting to ${join(common, 'config.worktree')}; elsewhere unset it`;
}
