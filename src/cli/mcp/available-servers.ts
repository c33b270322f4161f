import { noSuchName } from '../../render/nearest-name.ts';
import type { McpServerConfig } from '../../tools/mcp-servers/mcp-config.ts';
import { expandedConfig } from '../../tools/mcp-servers/server-variables.ts';
import type { Context } from '../setup/context.ts';
import { loadProjectParts } from '../setup/profiles/project-parts.ts';
import { isUsed } from '../setup/profiles/project-places.ts';

/** A server that agents in this folder could use. */
export interface KnownServer {
  readonly name: string;
  readonly config: McpServerConfig;
  /** `config`, or the file that defines the server. */
  readonly source: string;
  /** `hidden`: the configuration has a server of the same name. */
  readonly state: 'used' | 'untrusted' | 'changed' | 'hidden';
}

export interface KnownServers {
  /** Servers of the configuration come first. */
  readonly servers: readonly KnownServer[];
  /** Problems in the server files of the folder. */
  readonly notices: readonly string[];
}

export function knownServers(context: Context): KnownServers {
  const own = Object.entries(context.loaded.configuration.mcp?.servers ?? {});
  const { server_files, server_faults } = loadProjectParts(context);
  const names = new Set(own.map(([name]) => name));
  const brought = server_files.flatMap((file) =>
    file.servers.map(({ name, definition }): KnownServer => {
      const state = names.has(name)
        ? 'hidden'
        : isUsed(file)
          ? 'used'
          : file.trust === 'changed'
            ? 'changed'
            : 'untrusted';
      return { name, config: definition as McpServerConfig, source: file.source, state };
    }),
  );
  const configured = own.map(
    ([name, config]): KnownServer => ({ name, config, source: 'config', state: 'used' }),
  );
  return { servers: [...configured, ...brought], notices: server_faults };
}

/** How a server is started: in the files of a project, other programs insert variables. */
export function plainConfig({ config, source }: KnownServer, { env }: Context): McpServerConfig {
  return source === 'config' ? config : expandedConfig(config, env);
}

/** Servers that may be used: those of these names, or all. Throws for a name that none has. */
export function usableServers(context: Context, names: readonly string[]): readonly KnownServer[] {
  const usable = knownServers(context).servers.filter(({ state }) => state === 'used');
  const known = usable.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw noSuchName('E_USAGE', 'no MCP server that may be used is called', unknown, known, 'Servers');
  return names.length === 0 ? usable : usable.filter(({ name }) => names.includes(name));
}
