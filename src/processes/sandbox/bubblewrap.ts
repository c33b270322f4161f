import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { secretPaths } from './secret-paths.ts';

export interface SandboxLayout {
  /** `strict`: of the file system only the system's programs are there, and what is named here. */
  readonly strict: boolean;
  /** The agent's folder: canonical. */
  readonly cwd: string;
  /** What its commands see as /tmp; exists. */
  readonly tmp: string;
  readonly home: string;
  /** Further folders to write in, and to read: canonical, or not there. */
  readonly write: readonly string[];
  readonly read: readonly string[];
  /** What commands may read of the output that did not fit their results; exists. */
  readonly output: string;
  /** What nobody reads, beside the usual places of secrets. */
  readonly hidden: readonly string[];
}

/** Of a strict sandbox: programs, libraries and their settings. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/etc', '/opt', '/nix/store'];
/** Through these, root changes the kernel for all: the user of a sandbox is the one outside, whatever its namespace. */
const KERNEL = [
  '/proc/sys',
  '/proc/sysrq-trigger',
  '/proc/irq',
  '/proc/bus',
  '/proc/fs',
  '/proc/acpi',
  '/proc/scsi',
  '/proc/mtrr',
];
/** Govern what programs outside run, so they are neither changed nor created: settings of this program, git's hooks and settings. */
const GIT_GOVERNING = ['hooks', 'config', 'config.worktree', 'info'];

export interface BubblewrapCall {
  readonly args: readonly string[];
  /** Where something governing is missing: bubblewrap makes an empty folder, which is to be removed when the program has ended. */
  readonly empty: readonly string[];
}

/**
 * Puts a program into the layout, without network, and with processes of its own that end with it. Mounts are made in this order, so later ones
 * cover earlier ones (docs/sandbox.md).
 */
export function bubblewrapCall(layout: SandboxLayout): BubblewrapCall {
  const { cwd, home, tmp, read, write, output } = layout;
  const { around, within } = secretsOf(layout);
  const { mounts, empty } = governed(cwd);
  const folders = within.filter(isFolder);
  const args = [
    ...['--unshare-all', '--unshare-user', '--disable-userns', '--die-with-parent', '--new-session'],
    ...['--cap-drop', 'ALL'],
    ...(layout.strict ? strictRoot(home) : ['--ro-bind', '/', '/']),
    ...['--dev', '/dev', '--proc', '/proc'],
    ...KERNEL.flatMap((path) => ['--ro-bind-try', path, path]),
    ...around.flatMap((path) => ['--tmpfs', path]),
    ...['--bind', tmp, '/tmp', '--setenv', 'TMPDIR', '/tmp', '--unsetenv', 'TMP', '--unsetenv', 'TEMP'],
    ...read.flatMap((path) => ['--ro-bind-try', path, path]),
    ...write.flatMap((path) => ['--bind-try', path, path]),
    ...['--bind', cwd, cwd],
    ...within.flatMap((path) =>
      folders.includes(path) ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path],
    ),
    ...['--ro-bind', output, output],
    ...mounts,
    // Only now, since others are mounted in them.
    ...[...around, ...folders].flatMap((path) =>
      opens(layout).includes(path) ? [] : ['--remount-ro', path],
    ),
    ...['--chdir', cwd],
  ];
  return { args, empty };
}

/** What a person opened. */
function opens({ cwd, read, write }: SandboxLayout): readonly string[] {
  return [cwd, ...read, ...write];
}

/** The secrets that are there: those around something opened, which is put into them, and those that are covered after it. */
function secretsOf(layout: SandboxLayout): { around: readonly string[]; within: readonly string[] } {
  const opened = opens(layout);
  const named = [...secretPaths(layout.home), ...layout.hidden].filter((path) => existsSync(path));
  const all = [...new Set(named.map((path) => realpathSync(path)))].sort();
  const isAround = (path: string) => opened.some((one) => isInside(one, path));
  const isCovered = (path: string) =>
    all.some(
      (other) =>
        other !== path &&
        isInside(path, other) &&
        !opened.some((one) => isInside(one, other) && isInside(path, one)),
    );
  const shown = all.filter((path) => !isCovered(path));
  const visible = layout.strict ? [...opened, ...SYSTEM] : ['/'];
  return {
    around: shown.filter(isAround),
    within: shown.filter((path) => !isAround(path) && visible.some((place) => isInside(path, place))),
  };
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function strictRoot(home: string): string[] {
  const links = SYSTEM.filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink());
  const folders = SYSTEM.filter((path) => !links.includes(path));
  return [
    ...folders.flatMap((path) => ['--ro-bind-try', path, path]),
    ...links.flatMap((path) => ['--symlink', relative('/', realpathSync(path)), path]),
    ...['--tmpfs', home],
  ];
}

/** The workspace's governing files, read-only; what is missing is an empty folder while the program runs. */
function governed(cwd: string): { mounts: string[]; empty: string[] } {
  const git = join(cwd, '.git');
  const entry = lstatSync(git, { throwIfNoEntry: false });
  const repository = entry?.isFile() === true ? repositoryOf(cwd, git) : null;
  const folder = entry?.isDirectory() === true ? git : repository;
  const paths = [join(cwd, '.coppice'), ...(folder === git ? [] : [git])];
  if (folder !== null)
    paths.push(
      ...GIT_GOVERNING.map((name) => join(folder, name)).filter(
        // Git reads it only where the configuration says so.
        (path) => !path.endsWith('.worktree') || existsSync(path),
      ),
    );
  // An empty folder may be the placeholder of another call, which takes it away.
  const empty = paths.filter((path) => (existsSync(path) ? isEmptyFolder(path) : isWritable(dirname(path))));
  return {
    mounts: [
      // Mounted on itself, a folder cannot be renamed to have another one in its place.
      ...(folder === null ? [] : ['--bind', folder, folder]),
      ...paths.flatMap((path) => {
        if (empty.includes(path)) return ['--tmpfs', path, '--remount-ro', path];
        return existsSync(path) ? ['--ro-bind', path, path] : [];
      }),
    ],
    empty,
  };
}

function isEmptyFolder(path: string): boolean {
  try {
    return readdirSync(path).length === 0;
  } catch {
    return false;
  }
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * The repository of a linked worktree, in which its commits are kept. The worktree's own word is not enough, since an agent can write it: the
 * repository must name this worktree, too.
 */
function repositoryOf(cwd: string, file: string): string | null {
  try {
    const named = /^gitdir: (.+)$/m.exec(readFileSync(file, 'utf8'))?.[1];
    if (named === undefined) return null;
    const entry = realpathSync(isAbsolute(named) ? named : resolve(cwd, named));
    const back = readFileSync(join(entry, 'gitdir'), 'utf8').trim();
    if (realpathSync(dirname(resolve(entry, back))) !== cwd) return null;
    const common = realpathSync(resolve(entry, readFileSync(join(entry, 'commondir'), 'utf8').trim()));
    return dirname(dirname(entry)) === common ? common : null;
  } catch {
    return null;
  }
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
