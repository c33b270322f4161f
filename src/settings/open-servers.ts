import { argumentsFault } from '../kernel/toolsets/json-schema/arguments-fault.ts';
import type { Store } from '../store/store.ts';
import type { McpHost } from '../tools/mcp/mcp-host.ts';
import { dataFolder, loginsFolder } from './folders.ts';
import { programSandbox } from './sandbox-of.ts';
import type { Settings } from './settings.ts';

/** Returns a function that opens the MCP servers of these settings, to be called once an agent needs one. */
export function serversOf(
  { mcp = {}, sandbox }: Settings,
  env: NodeJS.ProcessEnv,
  ledger: Pick<Store, 'kind' | 'location'>,
): () => Promise<McpHost> {
  return async () => {
    const { McpHost } = await import('../tools/mcp/mcp-host.ts');
    return new McpHost({
      config: mcp,
      env,
      sandboxFor: (name, config) => programSandbox(sandbox, config, env, ledger, `mcp.servers.${name}`),
      logins: loginsFolder(dataFolder(env)),
      argumentsFault,
    });
  };
}
