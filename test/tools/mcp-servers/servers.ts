import { join } from 'node:path';
import { argumentsFault } from '../../../src/kernel/toolsets/json-schema/arguments-fault.ts';
import type { Agent, AgentConfig } from '../../../src/records/agent/agent.ts';
import type { ListedTool } from '../../../src/tools/mcp-servers/listed-tool.ts';
import type { McpConfig, McpServerConfig } from '../../../src/tools/mcp-servers/mcp-config.ts';
import { McpHost } from '../../../src/tools/mcp-servers/mcp-host.ts';
import { McpServer } from '../../../src/tools/mcp-servers/mcp-server.ts';
import { closeLater } from '../../close-opened.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

export const PROGRAM = join(import.meta.dirname, '..', '..', 'servers', 'mcp-server.ts');
const NONE = { allow: [], ask: [], deny: [] };

/** Configuration of the test server with this behaviour. */
export function serverConfig(behaviour: object = {}, more: Partial<McpServerConfig> = {}): McpServerConfig {
  return { command: process.execPath, args: [PROGRAM, JSON.stringify(behaviour)], ...more };
}

/** Starts one test server, which is closed after the test. */
export function testingServer(
  behaviour: object = {},
  more: Partial<McpServerConfig> = {},
  env = {},
): McpServer {
  const place = { cwd: temporaryFolder(), env: { PATH: process.env.PATH, ...env }, sandbox: null };
  const server = new McpServer('t', serverConfig(behaviour, more), place);
  closeLater(() => server.close());
  return server;
}

export async function toolOf(server: McpServer, name: string): Promise<ListedTool> {
  const tool = (await server.tools()).find((one) => one.name === name);
  if (tool === undefined) throw new Error(`the testing server has no tool ${name}`);
  return tool;
}

export function testingHost(config: McpConfig, env = {}): McpHost {
  const host = new McpHost({
    ...{ config, env: { PATH: process.env.PATH, ...env } },
    sandboxFor: () => null,
    argumentsFault,
  });
  closeLater(() => host.close());
  return host;
}

export function agentWith(
  tools: readonly string[],
  more: Partial<AgentConfig> = {},
): Pick<Agent, 'root_id' | 'config'> {
  const config: AgentConfig = {
    ...{ model: 'a/b', thinking: 'off', system: '', toolsets: [], tools, cwd: temporaryFolder() },
    permissions: { cli: NONE, config: NONE },
    ...more,
  };
  return { root_id: 'root', config };
}
