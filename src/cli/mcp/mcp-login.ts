import { CoppiceError } from '../../records/coppice-error.ts';
import { clean } from '../../render/clean.ts';
import { loginsFolder } from '../../settings/folders.ts';
import { LOGIN_MS, Login, logIn } from '../../tools/mcp-servers/login.ts';
import type { Context } from '../setup/context.ts';
import { printResult } from '../setup/output.ts';
import { type KnownServer, plainConfig, usableServers } from './available-servers.ts';

interface LoginOptions {
  readonly forget?: boolean;
}

/** `coppice mcp login`: lets the person log in to a server in a browser, or forgets the login. */
export async function mcpLogin(
  context: Context,
  name: string,
  { forget = false }: LoginOptions,
): Promise<number> {
  await atLogin(context, name, forget ? null : (page) => process.stderr.write(`${page}\n`));
  return printResult(context, { schema: 'coppice/mcp-login/v1', name, logged_in: !forget }, () => [
    forget
      ? `the login at ${name} is forgotten`
      : context.hint(`logged in to ${name}; try it: coppice mcp test ${name}`),
  ]);
}

/** Logs in to a server, and tells the page to open for it; null: forgets the login. The signal gives the login up. */
export async function atLogin(
  context: Context,
  name: string,
  tell: ((text: string) => void) | null,
  given_up?: AbortSignal,
): Promise<void> {
  const [server] = usableServers(context, [name]) as [KnownServer];
  const { url } = plainConfig(server, context);
  if (url === undefined)
    throw new CoppiceError('E_USAGE', `${name} is a program: only servers with an address have logins`, {
      hint: 'Give a program its keys with envAllow',
    });
  const folder = loginsFolder(context.data_folder);
  if (tell === null) return new Login(folder, url).forget();
  const late = AbortSignal.timeout(LOGIN_MS);
  const show = (page: URL) =>
    tell(`Open this page in a browser on this machine, and log in there:\n${clean(page.href)}`);
  await logIn(folder, url, show, given_up === undefined ? late : AbortSignal.any([late, given_up])).catch(
    (error: Error) => {
      throw new CoppiceError('E_UNAUTHORIZED', `${name} ${error.message}`, { cause: error });
    },
  );
}
