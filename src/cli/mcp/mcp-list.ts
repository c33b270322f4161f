import { clean } from '../../render/clean.ts';
import type { Style } from '../../render/style.ts';
import { tableLines } from '../../render/table.ts';
import { loginsFolder } from '../../settings/folders.ts';
import { asideFile } from '../../settings/quirk-file.ts';
import { setAsideTold } from '../../tools/mcp-servers/listed-tool.ts';
import { Login } from '../../tools/mcp-servers/login.ts';
import type { Context } from '../setup/context.ts';
import { printResult } from '../setup/output.ts';
import { type KnownServer, knownServers, plainConfig } from './available-servers.ts';

const HEAD = ['NAME', 'SOURCE', 'STATE', 'WHAT'] as const;

/** `coppice mcp list`: lists the servers without starting any, with the tools that were set aside when they were last started. */
export async function mcpList(context: Context): Promise<number> {
  const { document, rows, notices } = listedServers(context, context.out);
  printResult(context, document, () => rows);
  if (!context.json) for (const notice of notices) process.stderr.write(`${notice}\n`);
  return 0;
}

/** The servers as a document and as people read them, and what they should know. */
export function listedServers(context: Context, style: Style, login = 'coppice mcp login') {
  const { servers, notices } = knownServers(context);
  const book = asideFile(context.data_folder);
  const asideOf = (server: KnownServer) =>
    book
      .of(server.name, plainConfig(server, context))
      .map(({ name, why }) => ({ name: clean(name), why: clean(why) }));
  const { width, hint } = context;
  const none =
    'no MCP servers; add one: coppice mcp add files -- npx -y @modelcontextprotocol/server-filesystem .';
  const folder = loginsFolder(context.data_folder);
  const needy = servers.flatMap((server) => {
    const { url } = plainConfig(server, context);
    return server.state === 'used' && url !== undefined && new Login(folder, url).isNeeded ? server.name : [];
  });
  const all = servers.map((server) => ({ ...serverJson(server), set_aside: asideOf(server) }));
  const document = { schema: 'coppice/mcp-servers/v1', servers: all, notices: [...notices] };
  const rows = [
    ...(servers.length === 0
      ? [hint(none)]
      : tableLines(
          HEAD,
          servers.map(({ name, source, state, config: { url, command, args = [] } }) => [
            ...[name, clean(source), needy.includes(name) ? 'needs a login' : STATES[state]],
            // Without values of variables and headers.
            clean(url ?? [command, ...args].join(' ')),
          ]),
          { width, style, most: { 1: 30 } },
        )),
    ...all.flatMap(({ name, set_aside }) => {
      const told = setAsideTold(name, set_aside);
      return told === null ? [] : [`${told}, as of its last start`];
    }),
  ];
  const untrusted = servers.some(({ state }) => state === 'untrusted' || state === 'changed');
  const told = untrusted ? [hint('not used until you trust the file that defines them: coppice trust')] : [];
  const logins = needy.map((name) => hint(`${name} needs a login: ${login} ${name}`));
  return { document, rows, notices: [...notices.map(clean), ...told, ...logins] };
}

const STATES: Readonly<Record<KnownServer['state'], string>> = {
  used: 'used',
  untrusted: 'not trusted',
  changed: 'changed since you trusted it',
  hidden: 'hidden by your configuration',
};

function serverJson(server: KnownServer) {
  const { command = null, args = [], url = null } = server.config;
  return { name: server.name, source: server.source, state: server.state, command, args: [...args], url };
}
