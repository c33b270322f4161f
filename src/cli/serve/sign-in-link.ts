import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { sendRequest } from '../../serve/client/client-request.ts';
import { Access } from '../../serve/http/access.ts';
import { findServer } from '../../serve/http/server-file.ts';
import { serversFolder } from '../../settings/folders.ts';
import { ledgerName } from '../../settings/suggested-command.ts';
import { databaseAddress } from '../../store/database-address.ts';
import type { Context } from '../setup/context.ts';

export interface SignInLink {
  readonly url: string;
}

/** Key by which the server of a ledger is found, however its address is written. */
export function servedLedger({ database }: Context): string {
  const address = databaseAddress(database);
  return address.kind === 'sqlite' ? resolve(address.path) : ledgerName(database);
}

/** Requests a link to the server of this ledger that works once; null if none runs on this machine. Rejects with `E_UNREACHABLE` or `E_SERVER`. */
export async function signInLink(context: Context, scope: 'read' | 'write'): Promise<SignInLink | null> {
  const folder = serversFolder(context.data_folder);
  const server = findServer(folder, servedLedger(context));
  if (server === null) return null;
  const token = readFileSync(new Access(folder).fileOf(scope), 'utf8').trim();
  const path = `/v1/login-links?scope=${scope}`;
  const request = { method: 'POST', path, input: {}, repeatable: false, creates: false };
  return (await sendRequest({ url: server.url, token }, request)) as SignInLink;
}

/** Best effort: where no browser can be opened, the link that is shown can be clicked. */
export function openInBrowser(url: string): void {
  const [program, ...args] =
    process.platform === 'darwin'
      ? ['open']
      : process.platform === 'win32'
        ? ['cmd', '/c', 'start', '']
        : ['xdg-open'];
  spawn(program as string, [...args, url], { stdio: 'ignore', detached: true })
    .on('error', () => undefined)
    .unref();
}
