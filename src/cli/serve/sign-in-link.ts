import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { CoppiceError } from '../../records/coppice-error.ts';
import { Access } from '../../serve/http/access.ts';
import { findServer } from '../../serve/http/server-file.ts';
import type { Context } from '../setup/context.ts';
import { servedLedger, serverFolder } from './web-server.ts';

export interface SignInLink {
  readonly url: string;
}

/** Requests a link to the server of this ledger that works once; null if none runs on this machine. Rejects with `E_SERVER`. */
export async function signInLink(context: Context, scope: 'read' | 'write'): Promise<SignInLink | null> {
  const folder = serverFolder(context);
  const server = findServer(folder, servedLedger(context));
  if (server === null) return null;
  const token = readFileSync(new Access(folder).fileOf(scope), 'utf8').trim();
  const response = await fetch(`${server.url}/v1/login-links?scope=${scope}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  }).catch((error: unknown) => {
    throw new CoppiceError('E_SERVER', `the server at ${server.url} does not answer`, { cause: error });
  });
  if (!response.ok)
    throw new CoppiceError('E_SERVER', `the server at ${server.url} refused: ${response.status}`);
  return (await response.json()) as SignInLink;
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
