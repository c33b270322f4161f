import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  realpathSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { orElse } from '../../records/coppice-error.ts';

/** Governing files: what in a workspace controls programs that run later, by how it is protected while a program runs. */
export interface Governing {
  /** Paths that may be neither changed nor replaced. */
  readonly read_only: readonly string[];
  /** Paths that may be changed but not replaced: the folders of a repository in which commits are stored. */
  readonly writable: readonly string[];
  /** Missing paths, which must not be created while the program runs. */
  readonly missing: readonly Placeholder[];
}

/** Stands in for a missing path: a file with this content, or an empty folder if `content` is null. */
export interface Placeholder {
  readonly path: string;
  readonly content: string | null;
}

/** Governing entries of a repository. Git reads others only where these settings name them, or runs no program because of them. */
const GIT_GOVERNING = ['hooks', 'info', 'remotes', 'branches'];
/** Maximum repositories of submodules that are writable: each needs several mounts. With more, none is. */
const SUBMODULES_MAX = 50;
/** Content of `commondir` that names the repository itself, with the same effect as no such file. */
const SAME_REPOSITORY = '.\n';

/**
 * Returns the governing files of the workspace `cwd` (canonical): settings of this program and of git. `lasting`: while the program runs, others may add
 * worktrees and their settings. Throws if one is a symbolic link, which could be replaced whatever is mounted.
 */
export function governingIn(cwd: string, lasting: boolean): Governing {
  const git = join(cwd, '.git');
  const settings = join(cwd, '.coppice');
  for (const path of [git, settings]) forbidLink(path);
  const entry = lstatSync(git, { throwIfNoEntry: false });
  const linked = entry?.isFile() === true ? repositoryOf(cwd, git) : null;
  // An empty folder is no repository, but may be the placeholder of another running program.
  const whole = entry?.isDirectory() === true && !isPlaceholder(folderAt(git));
  const repository = whole ? { common: git, worktree: null } : linked;
  const read_only = [settings, ...(whole ? [] : [git])];
  if (repository === null) return sorted(read_only.map(folderAt), []);
  const { common, worktree } = repository;
  const own = worktree === null ? [common] : [common, worktree];
  const found = own.flatMap((folder) => submodulesIn(join(folder, 'modules')));
  const submodules = found.length > SUBMODULES_MAX ? [] : found;
  const files = [
    ...governingOf(common, worktree, cwd, lasting),
    ...[...own, ...submodules].map((folder) => folderAt(join(folder, 'modules'))),
    ...submodules.flatMap((folder) => governingOf(folder, null, cwd, lasting)),
  ];
  for (const { path } of files) forbidLink(path);
  return sorted([...read_only.map(folderAt), ...files], [...own, ...submodules]);
}

/** Governing files of one repository. */
function governingOf(common: string, worktree: string | null, cwd: string, lasting: boolean): Placeholder[] {
  const config = join(common, 'config');
  const files = [
    ...GIT_GOVERNING.map((name) => folderAt(join(common, name))),
    fileAt(config, ''),
    fileAt(join(common, 'commondir'), SAME_REPOSITORY),
    ...(lasting || /worktreeconfig/i.test(fileTextOrEmpty(config))
      ? [common, ...(worktree === null ? [] : [worktree])]
      : []
    ).map((folder) => fileAt(join(folder, 'config.worktree'), '')),
  ];
  // Settings of other worktrees; if the folder is missing, there are none yet.
  const worktrees = join(common, 'worktrees');
  if (lasting || existsSync(worktrees)) files.push(folderAt(worktrees));
  if (worktree !== null)
    files.push(...['commondir', 'gitdir'].map((name) => fileAt(join(worktree, name), '')));
  const settings = [config, ...['.gitconfig', '.config/git/config'].map((name) => join(homedir(), name))];
  return [...files, ...settings.flatMap((one) => namedBySettings(one, cwd, common)).map(folderAt)];
}

/** Repositories of submodules, with those within them. */
function submodulesIn(folder: string): string[] {
  const names = existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : [];
  return names.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) return [];
    return existsSync(join(path, 'HEAD'))
      ? [path, ...submodulesIn(join(path, 'modules'))]
      : submodulesIn(path);
  });
}

function folderAt(path: string): Placeholder {
  return { path, content: null };
}

function fileAt(path: string, content: string): Placeholder {
  return { path, content };
}

function sorted(all: readonly Placeholder[], writable: readonly string[]): Governing {
  // What looks like a placeholder may belong to another call, which will remove it.
  const missing = all.filter((one) =>
    existsSync(one.path) ? isPlaceholder(one) : isWritable(dirname(one.path)),
  );
  const there = all.filter((one) => !missing.includes(one) && existsSync(one.path));
  return { read_only: there.map(({ path }) => path), writable, missing };
}

export function isPlaceholder({ path, content }: Placeholder): boolean {
  return orElse(
    () => (content === null ? readdirSync(path).length === 0 : readFileSync(path, 'utf8') === content),
    false,
  );
}

function isWritable(folder: string): boolean {
  return orElse(() => accessSync(folder, constants.W_OK), null) === undefined;
}

function forbidLink(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return;
  throw new Error(
    `the sandbox cannot protect ${path} because it is a symbolic link: replace the link with its target`,
  );
}

/** Returns null if the path does not exist. */
export function realPathOrNull(path: string): string | null {
  // Most paths do not exist, and an error costs more than a look.
  return existsSync(path) ? orElse(() => realpathSync(path), null) : null;
}

export function fileTextOrEmpty(path: string): string {
  return orElse(() => readFileSync(path, 'utf8'), '');
}

/** Values of these keys (as a pattern) in git's settings, as absolute paths: of `path`, which includes, relative to the file, of others to `folder`. */
export function namedInSettings(
  config: string,
  keys: string,
  folder: string,
): readonly { readonly key: string; readonly path: string }[] {
  const lines = fileTextOrEmpty(config).matchAll(
    new RegExp(`^\\s*(?:\\[[^\\]]*\\]\\s*)?(${keys})\\s*=\\s*"?([^"\\n;#]*)`, 'gim'),
  );
  return [...lines].flatMap(([, name = '', value = '']) => {
    const key = name.toLowerCase();
    const named = value.trim().replace(/^~\//, `${homedir()}/`);
    return named === '' ? [] : [{ key, path: resolve(key === 'path' ? dirname(config) : folder, named) }];
  });
}

/**
 * Returns the paths within the workspace and the repository that the repository's settings name: included settings, and the folder of hooks. A path whose
 * folder is missing is represented by its topmost missing folder.
 */
function namedBySettings(config: string, cwd: string, common: string, depth = 0): string[] {
  if (depth > 5) return [];
  return namedInSettings(config, 'path|hookspath', cwd).flatMap(({ key, path }) => {
    const within = [cwd, common].find((folder) => path !== folder && isInside(path, folder));
    if (within === undefined) return [];
    forbidLinksOnTheWay(path, within);
    const first = firstMissing(path);
    const includes = key === 'path' && first === path;
    return [first, ...(includes ? namedBySettings(path, cwd, common, depth + 1) : [])];
  });
}

function forbidLinksOnTheWay(path: string, cwd: string): void {
  for (let at = path; at !== cwd; at = dirname(at)) forbidLink(at);
}

function firstMissing(path: string): string {
  const folder = dirname(path);
  return existsSync(folder) ? path : firstMissing(folder);
}

/**
 * The repository that the workspace's `.git` file names: that of a linked worktree, in which commits are stored, or one within the workspace. Elsewhere the
 * file alone is not trusted, since an agent can write it: the repository must name this worktree, too. Null if there is none.
 */
export function repositoryOf(cwd: string, file: string): { common: string; worktree: string | null } | null {
  try {
    const named = /^gitdir: (.+)$/m.exec(readFileSync(file, 'utf8'))?.[1];
    if (named === undefined) return null;
    const entry = realpathSync(isAbsolute(named) ? named : resolve(cwd, named));
    if (entry !== cwd && isInside(entry, cwd)) return { common: entry, worktree: null };
    const back = readFileSync(join(entry, 'gitdir'), 'utf8').trim();
    if (realpathSync(dirname(resolve(entry, back))) !== cwd) return null;
    const common = realpathSync(resolve(entry, readFileSync(join(entry, 'commondir'), 'utf8').trim()));
    const worktrees = dirname(entry);
    return dirname(worktrees) === common && basename(worktrees) === 'worktrees'
      ? { common, worktree: entry }
      : null;
  } catch {
    return null;
  }
}

export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
