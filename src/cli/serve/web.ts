import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { CoppiceError } from '../../records/coppice-error.ts';
import { Access } from '../../serve/http/access.ts';
import { findServer } from '../../serve/http/known-servers.ts';
import { ledgerName } from '../../settings/ledger-name.ts';
import type { Context } from '../setup/context.ts';
import { printJson } from '../setup/output.ts';
import { serverFolder } from './web-server.ts';

export interface WebOptions {
  readonly open: boolean;
  readonly readOnly?: boolean;
  readonly token?: boolean;
  readonly rotate?: boolean;
}

/** `coppice web`: a one-time link to the server of this ledger, opened in the browser on a terminal. */
export async function web(context: Context, options: WebOptions): Promise<number> {
  const folder = serverFolder(context);
  const access = new Access(folder);
  const scope = options.readOnly === true ? 'read' : 'write';
  if (options.rotate === true) access.rotate(scope);
  if (options.token === true) {
    process.stdout.write(`${readFileSync(access.fileOf(scope), 'utf8').trim()}\n`);
    return 0;
  }
  const server = findServer(folder, ledgerName(context.database));
  if (server === null)
    throw new CoppiceError('E_SERVER', 'no server runs on this ledger', {
      hint: 'Start one and keep it running: coppice serve',
    });
  const response = await fetch(`${server.url}/v1/login-links?scope=${scope}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${readFileSync(access.fileOf(scope), 'utf8').trim()}` },
  }).catch((error: unknown) => {
    throw new CoppiceError('E_SERVER', `the server at ${server.url} does not answer`, { cause: error });
  });
  if (!response.ok)
    throw new CoppiceError('E_SERVER', `the server at ${server.url} refused: ${response.status}`);
  const link = (await response.json()) as { readonly url: string };
  if (context.json) printJson(link);
  else process.stdout.write(`${link.url}\n`);
  if (options.open && !context.json && process.stdout.isTTY) openInBrowser(link.url);
  return 0;
}

/** Where no browser can be opened, the link is there to be clicked. */
function openInBrowser(url: string): void {
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
