import { CoppiceError } from '../../records/coppice-error.ts';
import type { Model } from '../model.ts';
import type { AcpServerConfig } from './acp-config.ts';
import { createAcpModel } from './acp-model.ts';
import { AcpServer } from './acp-server.ts';

export interface OpenAcpOptions {
  /** The `acp` of the configuration. */
  readonly acp?: Readonly<Record<string, AcpServerConfig>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** One server per name; share it between calls so that all agents of a process share the programs. */
  readonly acp_servers?: Map<string, AcpServer>;
}

/** Opens `NAME` or `NAME/AGENT` (the part after `acp:`). Throws `E_MODEL_UNKNOWN` with the configured names. */
export function openAcpModel(named: string, options: OpenAcpOptions): Model {
  const slash = named.indexOf('/');
  const name = slash === -1 ? named : named.slice(0, slash);
  const agent_id = slash === -1 ? undefined : named.slice(slash + 1);
  const { acp = {} } = options;
  const config = Object.hasOwn(acp, name) ? acp[name] : undefined;
  if (config === undefined) {
    const names = Object.keys(acp);
    throw new CoppiceError('E_MODEL_UNKNOWN', `no agent program called "${name}" is configured`, {
      hint:
        names.length === 0
          ? `Add it to the configuration: "acp": { "${name}": { "command": "…" } }`
          : `Configured: ${names.map((one) => `acp:${one}`).join(', ')}`,
    });
  }
  let server = options.acp_servers?.get(name);
  if (server === undefined) {
    server = new AcpServer(name, config, options.env);
    options.acp_servers?.set(name, server);
  }
  return createAcpModel({ server, name, ...(agent_id === undefined || agent_id === '' ? {} : { agent_id }) });
}
