import { readFileSync } from 'node:fs';
import { CoppiceError } from '../../records/coppice-error.ts';
import { Access } from '../../serve/http/access.ts';
import { serversFolder } from '../../settings/folders.ts';
import type { Context } from '../setup/context.ts';
import { printJson } from '../setup/output.ts';
import { SERVE_DRAIN_S } from './log-options.ts';
import { serve } from './serve.ts';
import { openInBrowser, type SignInLink, signInLink } from './sign-in-link.ts';

interface WebOptions {
  readonly open: boolean;
  readonly qr?: boolean;
  readonly readOnly?: boolean;
  readonly token?: boolean;
  readonly rotate?: boolean;
}

/** `coppice web`: prints a one-time link to the server of this ledger, and opens it in the browser on a terminal. If none runs, this process serves. */
export async function web(context: Context, options: WebOptions): Promise<number> {
  const access = new Access(serversFolder(context.data_folder));
  const scope = options.readOnly === true ? 'read' : 'write';
  if (options.rotate === true) access.rotate(scope);
  if (options.token === true) {
    process.stdout.write(`${readFileSync(access.fileOf(scope), 'utf8').trim()}\n`);
    return 0;
  }
  const link = await signInLink(context, scope);
  if (link !== null) {
    await tell(context, options, link);
    return 0;
  }
  if (context.json)
    throw new CoppiceError('E_SERVER', 'no server runs on this ledger', {
      hint: 'Start one and keep it running: coppice serve',
    });
  return serve(context, {
    logLevel: 'warn',
    drain: SERVE_DRAIN_S,
    listen: 'loopback',
    onListening: async () => {
      process.stderr.write('no server runs on this ledger: this command serves until Ctrl-C\n');
      const own = await signInLink(context, scope);
      if (own !== null) await tell(context, options, own);
    },
  });
}

async function tell(context: Context, { open, qr }: WebOptions, link: SignInLink): Promise<void> {
  if (context.json) return printJson(link);
  process.stdout.write(`${link.url}\n`);
  if (qr === true) {
    const { renderUnicodeCompact } = await import('uqr');
    // White on black whatever the colours of the terminal: a camera needs the contrast.
    const lines = renderUnicodeCompact(link.url, { border: 2 }).split('\n');
    process.stdout.write(lines.map((line) => `\u001b[97;40m${line}\u001b[0m\n`).join(''));
    if (/^(?:127\.|localhost$|\[::1\]$)/.test(new URL(link.url).hostname))
      process.stderr.write(
        'only this machine reaches that address; for a phone see server.listen and server.hosts\n',
      );
    return;
  }
  if (open && process.stdout.isTTY) openInBrowser(link.url);
}
