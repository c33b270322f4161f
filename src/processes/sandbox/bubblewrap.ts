import { lstatSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { frozenFolders, type Mount, nearestFolder } from './frozen-folders.ts';
import { governingIn, isInside, type Placeholder } from './governing.ts';
import { homeSecrets, secretPaths } from './secret-paths.ts';

export interface SandboxLayout {
  /** `strict`: of the file system only the system's programs are there, and what is named here. */
  readonly strict: boolean;
  /** The agent's folder: canonical. */
  readonly cwd: string;
  /** Where the program begins. */
  readonly start: string;
  /** What its commands see as /tmp; exists. */
  readonly tmp: string;
  readonly home: string;
  /** Further folders to write in, and to read: canonical, or not there. */
  readonly write: readonly string[];
  readonly read: readonly string[];
  /** What commands may read of the output that did not fit their results; exists. Null: none. */
  readonly output: string | null;
  /** It stays while others change what governs the workspace. */
  readonly lasting: boolean;
  /** How much files in memory may take in each place that is there. Infinity: half of what the machine has. */
  readonly memory_bytes: number;
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

export interface BubblewrapCall {
  readonly args: readonly string[];
  /** File systems in memory that the program can fill. */
  readonly memory: readonly string[];
  /** In the place of something governing that is missing: to be there before, and to be removed afterwards. */
  readonly missing: readonly Placeholder[];
  /** What the walls are mounted on: while nobody replaces it, they stand. */
  readonly standing: readonly string[];
}

/**
 * Puts a program into the layout, without network, and with processes of its own that end with it (docs/sandbox.md). What is deeper covers what is
 * around it, so the most specific rule holds. Throws if the workspace cannot be confined.
 */
export function bubblewrapCall(layout: SandboxLayout): BubblewrapCall {
  const { cwd, home, tmp, output } = layout;
  if (canonical(cwd) !== cwd) throw new Error(`the folder ${cwd} is gone, or is a link to another one now`);
  const write = layout.write.filter((path) => canonical(path) === path);
  const read = layout.read.filter(
    (path) => canonical(path) === path && ![cwd, ...write].some((other) => isInside(path, other)),
  );
  const opened = [cwd, ...read, ...write];
  const memory = ['/dev/shm', ...(layout.strict ? [home] : [])];
  const size = layout.memory_bytes === Infinity ? [] : ['--size', String(layout.memory_bytes)];
  const secrets = hiddenFrom(layout, opened);
  const named = [...homeSecrets(home), ...layout.hidden];
  const frozen = frozenFolders(layout.lasting && !layout.strict ? named : [], secrets, opened);
  const hidden = secrets.filter((path) => !frozen.folders.includes(dirname(path)));
  // Made while the program runs, they would be seen.
  const later = named.filter(
    (path) =>
      canonical(path) === null &&
      ![...opened, ...secrets].some((one) => isInside(path, one)) &&
      !frozen.folders.includes(nearestFolder(path)),
  );
  const { read_only, writable, missing } = governingIn(cwd, layout.lasting);
  // Of those at one place the last one holds.
  const mounts: readonly Mount[] = [
    ...frozen.mounts,
    { path: '/dev', args: ['--dev', '/dev'] },
    { path: '/dev/shm', args: [...size, '--tmpfs', '/dev/shm'] },
    { path: '/proc', args: ['--proc', '/proc'] },
    // The first process ends all others with the call; who writes to its memory keeps it from that.
    { path: '/proc/1', args: ['--tmpfs', '/proc/1', '--remount-ro', '/proc/1'] },
    ...KERNEL.map((path) => ({ path, args: ['--ro-bind-try', path, path] })),
    { path: '/tmp', args: ['--bind', tmp, '/tmp'] },
    ...hidden.map((path) => ({
      path,
      args: isFolder(path) ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path],
    })),
    ...read.map((path) => ({ path, args: ['--ro-bind-try', path, path] })),
    ...write.map((path) => ({ path, args: ['--bind-try', path, path] })),
    { path: cwd, args: ['--bind', cwd, cwd] },
    ...(output === null ? [] : [{ path: output, args: ['--ro-bind', output, output] }]),
    ...writable.map((path) => ({ path, args: ['--bind', path, path] })),
    ...read_only.map((path) => ({ path, args: ['--ro-bind', path, path] })),
    ...missing.map(({ path, content }) => ({
      path,
      args: content === null ? ['--tmpfs', path, '--remount-ro', path] : ['--ro-bind', path, path],
    })),
  ];
  const governing = [...read_only, ...writable, ...missing.map(({ path }) => path)];
  const taken = new Set(mounts.map(({ path }) => path));
  const pinned = [...hidden, ...governing].flatMap((path) => between([cwd, ...write], path));
  const pins = [...new Set(pinned)].filter((path) => !taken.has(path));
  const args = [
    ...['--unshare-all', '--unshare-user', '--disable-userns', '--die-with-parent', '--new-session'],
    ...['--cap-drop', 'ALL'],
    ...(layout.strict ? [...strictRoot(), ...size, '--tmpfs', home] : ['--ro-bind', '/', '/']),
    ...[...mounts, ...pins.map((path) => ({ path, args: ['--bind', path, path] }))]
      .toSorted((one, other) => (one.path < other.path ? -1 : one.path > other.path ? 1 : 0))
      .flatMap((mount) => mount.args),
    // Only now, since others are mounted in them.
    ...[...frozen.folders, ...hidden.filter(isFolder), '/dev', ...(layout.strict ? ['/'] : [])]
      .filter((path) => !opened.includes(path))
      .flatMap((path) => ['--remount-ro', path]),
    ...['--setenv', 'TMPDIR', '/tmp', '--unsetenv', 'TMP', '--unsetenv', 'TEMP', '--chdir', layout.start],
  ];
  return {
    args,
    memory: memory.filter((path) => !opened.some((one) => isInside(path, one))),
    missing,
    standing: [...hidden, ...later, ...governing],
  };
}

/**
 * Where the program is found within the layout: a strict one does not show those in a home folder, nor the links there that lead to the system's. Throws
 * if there is none of its name.
 */
export function programWithin(layout: SandboxLayout, file: string): string {
  if (!layout.strict) return file;
  const shown = [...SYSTEM, layout.cwd, ...layout.read, ...layout.write];
  const isShown = (path: string) => shown.some((place) => isInside(path, place));
  const name = basename(file);
  for (const path of [file, canonical(file), join('/usr/bin', name), join('/bin', name)]) {
    const real = path === null ? null : canonical(path);
    if (path !== null && real !== null && basename(path) === name && isShown(path) && isShown(real))
      return path;
  }
  throw new Error(
    `the strict sandbox does not show ${file}: install ${name} for the whole system, or add its folder to "sandbox.read" in the configuration`,
  );
}

/** Null: not there. */
function canonical(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

/** The folders that a program could rename to have something else in the place of `path`: mounted on themselves they stay. */
function between(opened: readonly string[], path: string): string[] {
  const around = opened.filter((folder) => folder !== path && isInside(path, folder));
  const nearest = around.toSorted((one, other) => other.length - one.length)[0];
  if (nearest === undefined) return [];
  const folders: string[] = [];
  for (let at = dirname(path); at !== nearest; at = dirname(at)) folders.push(at);
  return folders;
}

/** The secrets that are there and not within another one, unless they are within something opened there. */
function hiddenFrom(layout: SandboxLayout, opened: readonly string[]): readonly string[] {
  const named = [...secretPaths(layout.home), ...layout.hidden].map(canonical);
  const all = [...new Set(named.filter((path) => path !== null))].sort();
  const isCovered = (path: string) =>
    all.some(
      (other) =>
        other !== path &&
        isInside(path, other) &&
        !opened.some((one) => isInside(one, other) && isInside(path, one)),
    );
  const visible = layout.strict ? [...opened, ...SYSTEM] : ['/'];
  return all.filter(
    (path) =>
      !isCovered(path) &&
      (opened.some((one) => isInside(one, path)) || visible.some((place) => isInside(path, place))),
  );
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function strictRoot(): string[] {
  const links = SYSTEM.filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink());
  const folders = SYSTEM.filter((path) => !links.includes(path));
  return [
    ...folders.flatMap((path) => ['--ro-bind-try', path, path]),
    ...links.flatMap((path) => ['--symlink', relative('/', realpathSync(path)), path]),
  ];
}
