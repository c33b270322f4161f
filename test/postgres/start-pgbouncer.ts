import { spawn } from 'node:child_process';
import { accessSync, chmodSync, chownSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { freePort } from '../free-port.ts';
import { answers } from './answers.ts';

/** `nobody`: PgBouncer refuses to run as root. */
const UNPRIVILEGED = { uid: 65534, gid: 65534 };
/** Number of server connections, so small that clients must share them. */
const SERVER_CONNECTIONS = 2;

export interface PgBouncer {
  /** The URL of the same database through the pooler. */
  pooled(url: string): string;
  stop(): Promise<void>;
}

/** The path of the program; null if this machine does not have it. */
export function findPgBouncer(): string | null {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  for (const folder of folders)
    try {
      accessSync(join(folder, 'pgbouncer'), constants.X_OK);
      return join(folder, 'pgbouncer');
    } catch {
      // Not in this folder.
    }
  return null;
}

/** Starts a real PgBouncer in transaction mode in front of the server of `url`. */
export async function startPgBouncer(program: string, url: string): Promise<PgBouncer> {
  const server = new URL(url);
  const folder = mkdtempSync(join(tmpdir(), 'coppice-pgbouncer-'));
  chmodSync(folder, 0o755);
  const owner = process.getuid?.() === 0 ? UNPRIVILEGED : {};
  if ('uid' in owner) chownSync(folder, UNPRIVILEGED.uid, UNPRIVILEGED.gid);
  const port = await freePort();
  const users = join(folder, 'users.txt');
  const settings = join(folder, 'pgbouncer.ini');
  writeFileSync(users, '"postgres" ""\n');
  writeFileSync(
    settings,
    `[databases]
* = host=${server.hostname} port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = transaction
default_pool_size = ${SERVER_CONNECTIONS}
max_client_conn = 200
server_login_retry = 1
`,
  );
  const child = spawn(program, [settings], { ...owner, cwd: folder, stdio: 'ignore' });
  const gone = new Promise((resolve) => child.once('exit', resolve));
  const pooled = (direct: string) => direct.replace(`:${server.port}/`, `:${port}/`);
  await answers(pooled(url));
  return {
    pooled,
    async stop() {
      child.kill('SIGKILL');
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
