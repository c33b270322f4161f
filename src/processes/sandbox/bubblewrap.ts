import { lstatSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { governingIn, isInside, type Placeholder, realPathOrNull } from './governing.ts';
import { type SandboxView, SHOWN_IF_STRICT, viewOf } from './sandbox-view.ts';
import { guardFolder } from './self-running.ts';

export interface SandboxLayout extends SandboxView {
  /** Folder in which the program starts. */
  readonly start: string;
  /** Folder with spilled output that commands may read; must exist. Null: none. */
  readonly output: string | null;
  /** Whether the program is long-running: others may change governing files while it runs. */
  readonly lasting: boolean;
  /** Maximum size of each in-memory file system. Infinity: the kernel's default, half of the machine's memory. */
  readonly memory_bytes: number;
  /** Descriptor with the program that is to be at `LANDLOCK`. */
  readonly landlock: number;
}

/** In the folder that hides process 1, since nobody expects anything there. */
export const LANDLOCK = '/proc/1/landlock';

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

/** A mount point with its bubblewrap arguments. */
interface Mount {
  readonly path: string;
  readonly args: readonly string[];
}

export interface BubblewrapCall extends Pick<ReturnType<typeof guardFolder>, 'takeBack'> {
  readonly args: readonly string[];
  /** Paths beneath which it may write: all that is mounted writable, and the interfaces of the kernel. */
  readonly writable: readonly string[];
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
  if (realPathOrNull(cwd) !== cwd)
    throw new Error(`the folder ${cwd} is gone, or is a link to another one now`);
  const { opened, read, write, closed, shown, hidden } = viewOf(layout);
  const memory = ['/dev/shm', ...(layout.strict ? [home] : []), ...(tmp === null ? ['/tmp'] : [])];
  const size = layout.memory_bytes === Infinity ? [] : ['--size', String(layout.memory_bytes)];
  // Secrets that do not exist yet: created while the program runs, they would be visible.
  const later = layout.hidden.filter(
    (path) =>
      realPathOrNull(path) === null && ![...opened, ...closed, ...hidden].some((one) => isInside(path, one)),
  );
  const { writable, missing, ...governed } = governingIn(cwd, layout.lasting);
  const guard = guardFolder(cwd, layout.unprotected ?? [], writable);
  const visible = guard.read_only.filter((path) => !hidden.some((one) => isInside(path, one)));
  const read_only = [...governed.read_only, ...visible];
  const landlock = ['--perms', '0555', '--file', String(layout.landlock), LANDLOCK];
  // Of several mounts at one path, the last one wins.
  const mounts: readonly Mount[] = [
    ...closed.map((path) => ({ path, args: ['--tmpfs', path] })),
    ...[...shown].map(([path, real]) => ({ path, args: ['--ro-bind-try', real, path] })),
    { path: '/dev', args: ['--dev', '/dev'] },
    { path: '/dev/shm', args: [...size, '--tmpfs', '/dev/shm'] },
    { path: '/proc', args: ['--proc', '/proc'] },
    // Hides process 1, which ends all others with the call: a program that could write to its memory could prevent that.
    { path: '/proc/1', args: ['--tmpfs', '/proc/1', ...landlock, '--remount-ro', '/proc/1'] },
    ...KERNEL.map((path) => ({ path, args: ['--ro-bind-try', path, path] })),
    { path: '/tmp', args: tmp === null ? [...size, '--tmpfs', '/tmp'] : ['--bind', tmp, '/tmp'] },
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
  const pinned = [...hidden, ...governing].flatMap((path) =>
    between([cwd, ...write, ...writable], read_only, path),
  );
  const pins = [...new Set(pinned)].filter((path) => !taken.has(path));
  const args = [
    ...['--unshare-all', '--unshare-user', '--disable-userns', '--die-with-parent', '--new-session'],
    ...['--cap-drop', 'ALL'],
    ...(layout.strict ? [...strictRoot(), ...size, '--tmpfs', home] : ['--ro-bind', '/', '/']),
    ...[...mounts, ...pins.map((path) => ({ path, args: ['--bind', path, path] }))]
      .toSorted((one, other) => (one.path < other.path ? -1 : one.path > other.path ? 1 : 0))
      .flatMap((mount) => mount.args),
    // Made read-only last, because other mounts lie within these folders.
    ...[...closed, ...hidden.filter(isFolder), '/dev', ...(layout.strict ? ['/'] : [])]
      .filter((path) => !opened.includes(path))
      .flatMap((path) => ['--remount-ro', path]),
    ...['--setenv', 'TMPDIR', '/tmp', '--unsetenv', 'TMP', '--unsetenv', 'TEMP', '--chdir', layout.start],
  ];
  return {
    args,
    writable: ['/dev', '/proc', '/tmp', cwd, ...write, ...writable, ...(layout.strict ? [home] : [])],
    memory: memory.filter((path) => !opened.some((one) => isInside(path, one))),
    missing,
    takeBack: guard.takeBack,
    // What runs by itself is not among them: editors replace such files when they save them.
    standing: [...hidden, ...later, ...governing.filter((path) => !visible.includes(path))],
  };
}

/**
 * Returns the path of the program within the layout: a strict one shows neither programs in a home folder nor links there to those of the system. Throws if
 * it shows none of that name.
 */
export function programWithin(layout: SandboxLayout, file: string): string {
  if (!layout.strict) return file;
  const shown = [...SHOWN_IF_STRICT, layout.cwd, ...layout.read, ...layout.write];
  const isShown = (path: string) => shown.some((place) => isInside(path, place));
  const name = basename(file);
  for (const path of [file, realPathOrNull(file), join('/usr/bin', name), join('/bin', name)]) {
    const real = path === null ? null : realPathOrNull(path);
    if (path !== null && real !== null && basename(path) === name && isShown(path) && isShown(real))
      return path;
  }
  throw new Error(
    `the strict sandbox does not show ${file}: install ${name} for the whole system, or add its folder to "sandbox.read" in the configuration`,
  );
}

/**
 * Returns the folders between `path` and the nearest mount, if that is writable. The program could rename them to replace `path`; mounting them on themselves
 * prevents that.
 */
function between(writable: readonly string[], read_only: readonly string[], path: string): string[] {
  const around = [...writable, ...read_only].filter((folder) => folder !== path && isInside(path, folder));
  const nearest = around.toSorted((one, other) => other.length - one.length)[0];
  if (nearest === undefined || read_only.includes(nearest)) return [];
  const folders: string[] = [];
  for (let at = dirname(path); at !== nearest; at = dirname(at)) folders.push(at);
  return folders;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function strictRoot(): string[] {
  const links = SHOWN_IF_STRICT.filter((path) =>
    lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink(),
  );
  const folders = SHOWN_IF_STRICT.filter((path) => !links.includes(path));
  return [
    ...folders.flatMap((path) => ['--ro-bind-try', path, path]),
    ...links.flatMap((path) => ['--symlink', relative('/', realpathSync(path)), path]),
  ];
}
