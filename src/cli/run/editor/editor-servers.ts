import type { McpServer } from '@agentclientprotocol/sdk';
import { clean } from '../../../render/clean.ts';
import { mcpServerConfig, serverNameFrom } from '../../../tools/mcp/mcp-config.ts';
import type { Configuration } from '../../setup/configuration.ts';

type Servers = NonNullable<NonNullable<Configuration['mcp']>['servers']>;

/**
 * The MCP servers of one folder: those of the configuration, and those that an editor names for its conversations. The latter are kept in memory
 * only, because editors put keys into them. `mcp` holds both.
 */
export class EditorServers {
  readonly mcp: NonNullable<Configuration['mcp']>;
  readonly #servers: Servers;
  readonly #own: ReadonlySet<string>;

  constructor(mcp: Configuration['mcp']) {
    this.#servers = { ...mcp?.servers };
    this.#own = new Set(Object.keys(this.#servers));
    this.mcp = { ...mcp, servers: this.#servers };
  }

  /** Adds the servers that an editor names, replacing earlier ones of the same name. Returns a sentence for each that is left out. */
  bring(named: readonly McpServer[]): readonly string[] {
    const names = new Set<string>();
    return named.flatMap((server) => {
      const shown = clean(server.name);
      if ('type' in server && server.type === 'sse')
        return [`the MCP server ${shown} of the editor is left out: it speaks the old HTTP with SSE`];
      const name = serverNameFrom(server.name);
      if (name === null)
        return [`the MCP server ${shown} of the editor is left out: its name has no letters`];
      if (this.#own.has(name))
        return [`the MCP server ${shown} of the editor is left out: the configuration has one of this name`];
      if (names.has(name))
        return [
          `the MCP server ${shown} of the editor is left out: another server of the editor is already called ${name} here`,
        ];
      const config = mcpServerConfig.safeParse(configOf(server));
      if (!config.success)
        return [
          `the MCP server ${shown} of the editor is left out: ${clean(config.error.issues[0]?.message ?? 'it cannot be used')}`,
        ];
      names.add(name);
      this.#servers[name] = config.data;
      return [];
    });
  }
}

function configOf(server: Exclude<McpServer, { readonly type: 'sse' }>): Servers[string] {
  const record = (pairs: readonly { readonly name: string; readonly value: string }[]) =>
    Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
  if ('url' in server) return { url: server.url, headers: record(server.headers) };
  const { command, args, env } = server;
  return { command, args: [...args], env: record(env) };
}
