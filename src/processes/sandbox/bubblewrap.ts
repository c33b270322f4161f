import { lstatSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { frozenFolders, type Mount, nearestFolder } from './frozen-folders.ts';
import { governingIn, isInside, type Placeholder } from './governing.ts';
import { homeSecrets, secretPaths } from './secret-paths.ts';

export interface SandboxLayout {
  /** `strict`: only the system's programs and the paths named here are visible in the file system. */
  readonly strict: boolean;
  /** The agent's folder, a canonical path. */
  readonly cwd: string;
  /** Folder in which the program starts. */
  readonly start: string;
  /** Folder that the program sees as /tmp; must exist. */
  readonly tmp: string;
  readonly home: string;
  /** Further writable folders, and further readable ones: canonical paths, which may be missing. */
  readonly write: readonly string[];
  readonly read: readonly string[];
  /** Folder with spilled output that commands may read; must exist. Null: none. */
  readonly output: string | null;
  /** Whether the program is long-running: others may change governing files while it runs. */
  readonly lasting: boolean;
  /** Maximum size of each in-memory file system. Infinity: the kernel's default, half of the machine's memory. */
  readonly memory_bytes: number;
  /** Further paths that must not be readable, beside the usual places of secrets. */
  readonly hidden: readonly string[];
}

/** Folders that a strict sandbox shows: programs, libraries and their settings. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/etc', '/opt', '/nix/store'];
/** Kernel interfaces by which root can change the whole machine. Made read-only, because a user namespace does not change who the user is outside. */
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
  /** In-memory file systems that the program can fill. */
  readonly memory: readonly string[];
  /** Placeholders for missing governing files: the caller creates them before the start, and removes them afterwards. */
  readonly missing: readonly Placeholder[];
  /** Paths that the sandbox depends on: it holds only as long as nobody replaces them. */
  readonly standing: readonly string[];
}

/**
 * Returns the bubblewrap call for the layout: without network, and with a process namespace that ends with the program (docs/sandbox.md). Deeper mounts cover
 * those around them, so the most specific rule holds. Throws if the workspace cannot be confined.
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
  // Secrets that do not exist yet: created while the program runs, they would be visible.
  const later = named.filter(
    (path) =>
      canonical(path) === null &&
      ![...opened, ...secrets].some((one) => isInside(path, one)) &&
      !frozen.folders.includes(nearestFolder(path)),
  );
  const { read_only, writable, missing } = governingIn(cwd, layout.lasting);
  // Of several mounts at one path, the last one wins.
  const mounts: readonly Mount[] = [
    ...frozen.mounts,
    { path: '/dev', args: ['--dev', '/dev'] },
    { path: '/dev/shm', args: [...size, '--tmpfs', '/dev/shm'] },
    { path: '/proc', args: ['--proc', '/proc'] },
    // Hides process 1, which ends all others with the call: a program that could write to its memory could prevent that.
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
    // Made read-only last, because other mounts lie within these folders.
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
 * Returns the path of the program within the layout: a strict one shows neither programs in a home folder nor links there to those of the system. Throws if
 * it shows none of that name.
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

/** Returns null if the path does not exist. */
function canonical(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

/**
 * Returns the folders between `path` and the nearest writable folder. The program could rename them to replace `path`; mounting them on themselves prevents
 * that.
 */
function between(opened: readonly string[], path: string): string[] {
  const around = opened.filter((folder) => folder !== path && isInside(path, folder));
  const nearest = around.toSorted((one, other) => other.length - one.length)[0];
  if (nearest === undefined) return [];
  const folders: string[] = [];
  for (let at = dirname(path); at !== nearest; at = dirname(at)) folders.push(at);
  return folders;
}

/** Returns the existing, visible secrets, without those inside another secret, unless a folder opened within that one contains them. */
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
