import type { McpServer } from '@agentclientprotocol/sdk';
import type { AcpTerms } from '../models/agent-programs/open-acp-model.ts';
import { configuredVariables } from '../processes/child-environment.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import type { Store } from '../store/store.ts';
import { programSandbox } from './sandbox-of.ts';
import type { Settings } from './settings.ts';

/** The agent programs of the configuration, each with its sandbox. */
export function agentPrograms(
  { acp = {}, mcp = {}, sandbox }: Pick<Settings, 'acp' | 'mcp' | 'sandbox'>,
  env: NodeJS.ProcessEnv,
  ledger: Pick<Store, 'kind' | 'location'> | null,
): AcpTerms {
  return {
    programs: acp,
    servers: new Map(),
    toolServersOf: (name, { mcpServers = [] }) =>
      Promise.all(mcpServers.map((one) => toolServer(name, one, mcp, env))),
    async sandboxFor(name, config) {
      const { programNeeds } = await import('../models/agent-programs/program-needs.ts');
      const needs = programNeeds(config);
      const made = programSandbox(sandbox, needs, env, ledger, `acp.${name}`);
      if (made === null || needs.hosts !== undefined) return made;
      throw new CoppiceError(
        'E_CONFIG',
        `acp.${name} runs in the sandbox, but the hosts that ${config.command} needs are not configured`,
        {
          hint: `Add to acp.${name} the hosts, "hosts": ["api.example.com"] ([] for none), and the paths of its login and sessions, "writable": ["~/.example"]; or give it all your rights with "sandbox": "off" (docs/acp.md)`,
        },
      );
    },
  };
}

/** An MCP server of the configuration, as an agent program is told of it. */
async function toolServer(
  program: string,
  name: string,
  { servers = {} }: NonNullable<Settings['mcp']>,
  env: NodeJS.ProcessEnv,
): Promise<McpServer> {
  const config = Object.hasOwn(servers, name) ? servers[name] : undefined;
  if (config === undefined) {
    const names = Object.keys(servers);
    throw new CoppiceError(
      'E_CONFIG',
      `acp.${program}.mcpServers: there is no MCP server "${name}" in the configuration`,
      {
        hint: names.length === 0 ? `Add it: coppice mcp add ${name}` : `Configured: ${names.join(', ')}`,
      },
    );
  }
  const { requestHeaders } = await import('../tools/mcp-servers/server-variables.ts');
  const listed = (given: Readonly<Record<string, string>>) =>
    Object.entries(given).map(([key, value]) => ({ name: key, value }));
  try {
    if (config.url !== undefined)
      return { type: 'http', name, url: config.url, headers: listed(requestHeaders(config, env)) };
    const { command = '', args = [] } = config;
    return { name, command, args: [...args], env: listed(configuredVariables(config, env)) };
  } catch (error) {
    throw new CoppiceError(
      'E_CONFIG',
      `acp.${program}.mcpServers: the MCP server "${name}" ${(error as Error).message}`,
    );
  }
}
