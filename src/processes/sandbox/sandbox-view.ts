import { existsSync, readdirSync } from 'node:fs';
import { basename, delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { orElse } from '../../records/coppice-error.ts';
import { fileTextOrEmpty, isInside, namedInSettings, realPathOrNull, repositoryOf } from './governing.ts';
import { SHOWN_IN_HOME, SHOWN_IN_RUN, SHOWN_IN_TOOLCHAIN, secretPaths } from './known-places.ts';

/** Folders that a strict sandbox shows: programs, libraries and their settings. */
export const SHOWN_IF_STRICT = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/etc',
  '/opt',
  '/nix/store',
];
/** Folders of home folders, also those of the host in virtual machines. */
const PARENTS = ['/home', '/var/home', '/Users', '/mnt/c/Users'];
/** Never closed, even if a home folder lies in or around one: nothing would work. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib64', '/etc', '/nix', '/proc', '/dev', '/sys', '/tmp'];
/** Variables that all programs get (`childEnvironment`) and that name files. */
const FILES = ['SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS'];
const PACKAGE = ['.git', 'package.json', 'pyproject.toml'];
/** Maximum files of git's settings that are read, and places that the search for missed ones returns. */
const SETTINGS_MAX = 40;
const MISSED_MAX = 2;
/** A path in a text: absolute, or relative to the home folder or to a folder above. */
const PATHS = /(?<![\w.~$}-])(?:~\/|\.\.\/|\/)[^\s'"`:;,()<>|&$*?[\]{}]+/g;

/** Canonical home folders of the user (`home`) and of the other people of this machine, whose numbers have four digits or more. */
function homesOf(home: string): string[] {
  const people = fileTextOrEmpty('/etc/passwd').matchAll(/^(?:[^:]*:){2}\d{4,}:(?:[^:]*:){2}(\/[^:]*)/gm);
  const all = [home, '/root', ...Array.from(people, ([, folder = '']) => folder)];
  return all.flatMap((path) => realPathOrNull(path) ?? []);
}

export interface SandboxView {
  /** `strict`: only the system's programs and the paths named here are visible in the file system. */
  readonly strict: boolean;
  /** The agent's folder, a canonical path. */
  readonly cwd: string;
  readonly home: string;
  /** Further folders that programs may write, and further ones that they may read: canonical paths, which may be missing. */
  readonly write: readonly string[];
  readonly read: readonly string[];
  /** Further paths that no program may read, beside the usual places of secrets. */
  readonly hidden: readonly string[];
  /** What runs by itself in the agent's folder (self-running.ts), and may be written all the same. */
  readonly unprotected?: readonly string[];
  /** Absolute paths of the program and of what people named to start it. */
  readonly programs: readonly string[];
  /** Folder that the program sees as /tmp, which must exist; null: one in memory. */
  readonly tmp: string | null;
  /** Whether programs may use Unix domain sockets, such as those of databases or containers; many are in `/run`. */
  readonly sockets: boolean;
}

/** What a program sees of the file system, and what it does not; canonical paths. */
export function viewOf(view: SandboxView) {
  const { cwd, home, strict, sockets } = view;
  const write = view.write.filter((path) => realPathOrNull(path) === path);
  const read = view.read.filter(
    (path) => realPathOrNull(path) === path && ![cwd, ...write].some((other) => isInside(path, other)),
  );
  const opened = [cwd, ...read, ...write];
  const homes = homesOf(home);
  // Only what `shownIn` returns is visible of these.
  const folders = [
    ...homes,
    ...[...PARENTS, ...(sockets ? [] : ['/run'])].flatMap((path) => realPathOrNull(path) ?? []),
  ];
  const closable = folders.filter(
    (path) =>
      !SYSTEM.some((place) => isInside(place, path) || isInside(path, place)) &&
      !opened.some((one) => isInside(path, one)),
  );
  const closed = strict ? [] : [...new Set(closable)].filter((path) => !isWithin(path, closable));
  const barred = view.hidden.flatMap((path) => realPathOrNull(path) ?? []);
  // A /tmp of its own hides what people start from there. That of commands is on disk, where a mount would leave something behind.
  const apart = strict ? [] : [...closed, '/tmp'];
  const shown = shownIn(view, view.tmp === null ? apart : closed, opened, barred);
  // Secrets that would be visible, or in which something is opened.
  const isClosed = (path: string) => strict || closed.some((folder) => isInside(path, folder));
  const places = [...opened, ...shown.keys(), ...(strict ? SHOWN_IF_STRICT : [])];
  const secrets = secretPaths(homes.filter((one) => one === homes[0] || !isClosed(one)));
  const hidden = [...secrets.flatMap((path) => realPathOrNull(path) ?? []), ...barred].filter(
    (path) =>
      !isClosed(path) ||
      places.some((one) => isInside(path, one)) ||
      opened.some((one) => isInside(one, path)),
  );
  return { opened, read, write, closed, apart, shown, hidden: [...new Set(hidden)] };
}

/** What tools need of the closed folders (docs/sandbox.md): from paths to what is shown there. */
function shownIn(
  view: SandboxView,
  closed: readonly string[],
  opened: readonly string[],
  barred: readonly string[],
): ReadonlyMap<string, string> {
  const known = [
    ...SHOWN_IN_HOME.map((path) => join(view.home, path)),
    ...[...SHOWN_IN_RUN, ...namedByGit(view.home), ...repositoryAround(view.cwd, closed)],
    ...FILES.flatMap((name) => process.env[name] ?? []),
  ];
  const places = [...known, ...programPlaces(view.programs, closed, opened, known)];
  // Links are shown as what they lead to, which is also shown in its own place.
  const all = places.flatMap((path) => {
    const real = realPathOrNull(path);
    return real === null ? [] : [path, real].map((at) => [at, real] as const);
  });
  const free = all.filter(
    ([path]) => isWithin(path, closed) && ![...opened, ...barred].some((one) => isInside(path, one)),
  );
  const paths = [...new Set(free.map(([path]) => path))];
  return new Map(free.filter(([path]) => !isWithin(path, paths)));
}

function isWithin(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path !== folder && isInside(path, folder));
}

/** The user's own settings of git, and what they include and name. */
function namedByGit(home: string): string[] {
  const keys = 'path|excludesfile|attributesfile|hookspath|templatedir|template|allowedsignersfile';
  const files = ['.gitconfig', '.config/git/config'].map((name) => join(home, name));
  for (const file of files)
    for (const { path } of namedInSettings(file, keys, home))
      if (!files.includes(path) && files.length < SETTINGS_MAX) files.push(path);
  return files;
}

/** The repository that the agent's folder is part of, up to the home folder, and the one that has this as its worktree. */
function repositoryAround(cwd: string, closed: readonly string[]): string[] {
  const within = foldersAround(cwd, closed).filter((at) => existsSync(join(at, '.git')));
  return [...within.slice(-1), ...within.flatMap((at) => repositoryOf(at, join(at, '.git'))?.common ?? [])];
}

/** The path and the folders around it, without home folders and what is around those. */
function foldersAround(path: string, closed: readonly string[]): string[] {
  const isHome = PARENTS.includes(dirname(path)) || !isWithin(path, closed);
  return isHome ? [] : [path, ...foldersAround(dirname(path), closed)];
}

/** The folders in PATH, the programs to which their links lead, `programs`, and the toolchains and packages around them; not what is in `known` places. */
function programPlaces(
  programs: readonly string[],
  closed: readonly string[],
  opened: readonly string[],
  known: readonly string[],
): string[] {
  const around = (path: string) => {
    const real = (isAbsolute(path) && realPathOrNull(path)) || '/';
    return [...opened, ...known].some((one) => isInside(real, one)) ? [] : foldersAround(real, closed);
  };
  const folders = (process.env.PATH ?? '').split(delimiter).filter((path) => {
    const real = realPathOrNull(path) ?? '/';
    // A link in a folder that agents can write is theirs.
    return isWithin(real, closed) && !opened.some((one) => isInside(real, one));
  });
  const files = [...folders.flatMap(linksIn), process.execPath, ...programs].filter(
    (path) => around(path).length > 0,
  );
  const bins = [...folders.map(around), ...files.map((path) => around(path).slice(1))];
  return [
    ...[...folders.filter((path) => around(path).length > 0), ...files],
    ...bins.flatMap(([bin = '', root = '']) =>
      root !== '' && /^s?bin$/.test(basename(bin)) && basename(root) !== '.local'
        ? [bin, ...SHOWN_IN_TOOLCHAIN.map((name) => join(root, name))]
        : [],
    ),
    ...programs.flatMap((path) =>
      around(path)
        .filter((at, above) => isPackage(at) || (above === 1 && isInside(at, '/tmp')))
        .slice(-1),
    ),
  ];
}

function isPackage(folder: string): boolean {
  return PACKAGE.some((name) => existsSync(join(folder, name)));
}

function linksIn(folder: string): string[] {
  const entries = orElse(() => readdirSync(folder, { withFileTypes: true }), []);
  return entries.filter((entry) => entry.isSymbolicLink()).map(({ name }) => join(folder, name));
}

/** What a text names that is there, in closed folders or /tmp, and not shown: the package around it, or the path itself. No secrets. */
export function missedBy(view: SandboxView, text: string): string[] {
  const { opened, apart, shown } = viewOf(view);
  const secret = [...secretPaths(homesOf(view.home)), ...view.hidden].flatMap(
    (path) => realPathOrNull(path) ?? [],
  );
  const visible = [...opened, ...shown.keys(), ...secret];
  const named = text
    .match(PATHS)
    ?.flatMap((path) => realPathOrNull(resolve(view.cwd, path.replace(/^~\//, `${view.home}/`))) ?? []);
  const missed = [...new Set(named)].flatMap((path) => {
    if (view.tmp !== null && isInside(path, '/tmp') && existsSync(join(view.tmp, path.slice(4)))) return [];
    if (visible.some((one) => isInside(path, one) || isInside(one, path))) return [];
    const around = foldersAround(path, apart);
    return around.find(isPackage) ?? around[0] ?? [];
  });
  return [...new Set(missed)].slice(0, MISSED_MAX);
}
