import type { McpServer } from '@agentclientprotocol/sdk';
import type { Sandbox } from '../../processes/sandbox/sandbox.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { keptIn } from '../../records/kept-in.ts';
import type { Model } from '../model.ts';
import type { AcpServerConfig } from './acp-config.ts';
import { AcpModel } from './acp-model.ts';
import { AcpServer } from './acp-server.ts';

/** The agent programs that models are opened from. */
export interface AcpTerms {
  readonly programs: Readonly<Record<string, AcpServerConfig>>;
  /** The sandbox for a program; null if it has all rights of the user. Rejects with a `CoppiceError` if this cannot be determined. */
  readonly sandboxFor: (name: string, config: AcpServerConfig) => Promise<Sandbox | null>;
  /** The MCP servers that a program is given. Rejects with a `CoppiceError` if one is not configured. */
  readonly toolServersOf?: (name: string, config: AcpServerConfig) => Promise<readonly McpServer[]>;
  /** One server per name; share it between calls so that all agents of a process share the programs. */
  readonly servers: Map<string, AcpServer>;
}

export interface OpenAcpOptions {
  readonly acp?: AcpTerms;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Opens `NAME` or `NAME/AGENT` (the part after `acp:`). Rejects with `E_MODEL_UNKNOWN`, which lists the configured names. */
export async function openAcpModel(named: string, options: OpenAcpOptions): Promise<Model> {
  const [, name = '', agent_id] = /^([^/]*)(?:\/(.*))?$/s.exec(named) ?? [];
  const { acp, env } = options;
  const { programs = {} } = acp ?? {};
  const config = Object.hasOwn(programs, name) ? programs[name] : undefined;
  if (acp === undefined || config === undefined) {
    const names = Object.keys(programs);
    throw new CoppiceError('E_MODEL_UNKNOWN', `no agent program called "${name}" is configured`, {
      hint:
        names.length === 0
          ? `Add it to the configuration: "acp": { "${name}": { "command": "…" } }`
          : `Configured: ${names.map((one) => `acp:${one}`).join(', ')}`,
    });
  }
  const sandbox = await acp.sandboxFor(name, config);
  const tool_servers = (await acp.toolServersOf?.(name, config)) ?? [];
  const server = keptIn(acp.servers, name, () => new AcpServer({ name, config, env, sandbox, tool_servers }));
  return new AcpModel(server, agent_id || null);
}
