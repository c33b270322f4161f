import { workingFolder } from '../../processes/working-folder.ts';
import { clean } from '../../render/clean.ts';
import { paint } from '../../render/style.ts';
import { loginsFolder } from '../../settings/folders.ts';
import { asideFile } from '../../settings/quirk-file.ts';
import { programSandbox } from '../../settings/sandbox-of.ts';
import type { SetAside } from '../../tools/mcp-servers/listed-tool.ts';
import { McpServer } from '../../tools/mcp-servers/mcp-server.ts';
import { nameForModels } from '../../tools/mcp-servers/server-names.ts';
import type { Context } from '../setup/context.ts';
import { printResult } from '../setup/output.ts';
import { type KnownServer, plainConfig, usableServers } from './available-servers.ts';

export interface Tested {
  readonly name: string;
  readonly ok: boolean;
  readonly error: string | null;
  readonly server: string | null;
  readonly protocol: string | null;
  readonly tools: readonly { readonly name: string; readonly description: string }[];
  readonly set_aside: readonly SetAside[];
  readonly duration_ms: number;
}

/** `coppice mcp test`: starts each server as agents would, in the same sandbox, and lists its tools. */
export async function mcpTest(context: Context, names: readonly string[]): Promise<number> {
  const chosen = usableServers(context, names);
  const tested = await Promise.all(chosen.map((server) => testServer(server, context)));
  const ok = tested.every((one) => one.ok);
  printResult(context, { schema: 'coppice/mcp-test/v1', ok, servers: tested }, () =>
    tested.length === 0 ? ['no MCP servers to test'] : tested.flatMap((one) => linesOf(one, context)),
  );
  return ok ? 0 : 1;
}

/** Starts a server, reads its tools and stops it. Never rejects. */
export async function testServer(known: KnownServer, context: Context): Promise<Tested> {
  const began = performance.now();
  const cwd = workingFolder(context.options.cwd ?? '.');
  const { name } = known;
  const plain = plainConfig(known, context);
  const result = { name, ok: true, error: null, server: null, protocol: null, tools: [], set_aside: [] };
  const since = () => Math.round(performance.now() - began);
  let server: McpServer | null = null;
  try {
    const common = context.loaded.configuration.sandbox;
    const sandbox = programSandbox(common, plain, context.env, null, `mcp.servers.${name}`);
    server = new McpServer(name, plain, {
      cwd,
      env: context.env,
      sandbox,
      logins: loginsFolder(context.data_folder),
      onAside: asideFile(context.data_folder).learn,
    });
    const listed = await server.tools();
    const greeting = await server.greeting();
    const tools = listed.map((tool) => ({
      name: nameForModels(name, tool.name),
      description: clean(tool.description),
    }));
    const { about, version: protocol } = greeting;
    const set_aside = server.aside.map((one) => ({ name: clean(one.name), why: clean(one.why) }));
    return { ...result, server: about, protocol, tools, set_aside, duration_ms: since() };
  } catch (error) {
    return { ...result, ok: false, error: clean((error as Error).message), duration_ms: since() };
  } finally {
    await server?.close();
  }
}

function linesOf(tested: Tested, { out }: Context): string[] {
  const { name, tools, set_aside, duration_ms } = tested;
  if (!tested.ok) return [`${paint(out, 'red', 'failed ')} ${name}: it ${tested.error}`];
  const head = `${paint(out, 'green', 'ok     ')} ${name}: ${tested.server || 'a server without a name'}, MCP ${tested.protocol}, ${tools.length} tools, ${duration_ms} ms`;
  return [
    head,
    ...tools.map((tool) => `          ${tool.name}  ${paint(out, 'dim', tool.description.slice(0, 80))}`),
    ...set_aside.map((one) => `          ${paint(out, 'yellow', 'set aside')} ${one.name}: ${one.why}`),
  ];
}
