import { clean } from '../../render/clean.ts';
import { tableLines } from '../../render/table.ts';
import { asideFile } from '../../settings/quirk-file.ts';
import { setAsideTold } from '../../tools/mcp-servers/listed-tool.ts';
import type { Context } from '../setup/context.ts';
import { printJson, printLines } from '../setup/output.ts';
import { type KnownServer, knownServers, plainConfig } from './available-servers.ts';

const HEAD = ['NAME', 'SOURCE', 'STATE', 'WHAT'] as const;

/** `coppice mcp list`: lists the servers without starting any, with the tools that were set aside when they were last started. */
export async function mcpList(context: Context): Promise<number> {
  const { servers, notices } = knownServers(context);
  const book = asideFile(context.data_folder);
  const asideOf = (server: KnownServer) =>
    book
      .of(server.name, plainConfig(server, context))
      .map(({ name, why }) => ({ name: clean(name), why: clean(why) }));
  if (context.json) {
    const all = servers.map((server) => ({ ...serverJson(server), set_aside: asideOf(server) }));
    printJson({ schema: 'coppice/mcp-servers/v1', servers: all, notices: [...notices] });
    return 0;
  }
  const { out: style, width } = context;
  if (servers.length === 0)
    printLines([
      context.hint(
        'no MCP servers; add one: coppice mcp add files -- npx -y @modelcontextprotocol/server-filesystem .',
      ),
    ]);
  else {
    const rows = servers.map((server) => [
      server.name,
      clean(server.source),
      STATES[server.state],
      clean(whatOf(server)),
    ]);
    printLines(tableLines(HEAD, rows, { width, style, most: { 1: 30 } }));
  }
  for (const server of servers) {
    const told = setAsideTold(server.name, asideOf(server));
    if (told !== null) printLines([`${told}, as of its last start`]);
  }
  for (const notice of notices) process.stderr.write(`${clean(notice)}\n`);
  if (servers.some(({ state }) => state === 'untrusted' || state === 'changed'))
    process.stderr.write(
      context.hint('not used until you trust the file that defines them: coppice trust\n'),
    );
  return 0;
}

const STATES: Readonly<Record<KnownServer['state'], string>> = {
  used: 'used',
  untrusted: 'not trusted',
  changed: 'changed since you trusted it',
  hidden: 'hidden by your configuration',
};

/** Returns the URL or the command of a server, without values of variables and headers. */
function whatOf({ config }: KnownServer): string {
  return config.url ?? [config.command, ...(config.args ?? [])].join(' ');
}

function serverJson(server: KnownServer): object {
  const { command = null, args = [], url = null } = server.config;
  return { name: server.name, source: server.source, state: server.state, command, args: [...args], url };
}
