import * as z from 'zod';
import { sandboxNeeds } from '../../processes/sandbox/sandbox-needs.ts';
import type { DeepReadonly } from '../../records/deep-readonly.ts';
import { price } from '../provider/provider-config.ts';

export const MAX_SESSIONS = 8;

/** One entry of `acp` in the configuration: an agent program that speaks the Agent Client Protocol on its standard streams. */
export const acpServerConfig = z.strictObject({
  command: z.string().min(1),
  args: z.array(z.string()).optional(),
  /** Variables set for the program, with their values; keys belong in `envAllow`. */
  env: z.record(z.string(), z.string()).optional(),
  /** Names of variables of our own environment that are passed on, including provider keys. */
  envAllow: z.array(z.string().min(1)).optional(),
  /** Maximum concurrent prompts; default `MAX_SESSIONS`. */
  maxSessions: z.int().positive().optional(),
  /** Maximum time from the start to the answer to `initialize`; default 30. */
  startTimeoutSeconds: z.number().positive().max(3_600).optional(),
  /** Names of `mcp.servers` that the program is given: it starts or calls them itself, in each of its sessions. */
  mcpServers: z.array(z.string().min(1)).optional(),
  /** Dollars per million tokens that the program reports; takes precedence over the cost that it reports. */
  price: price.optional(),
  /** Sandbox settings; some programs have defaults for those left out (docs/acp.md). */
  ...sandboxNeeds.shape,
});

export type AcpServerConfig = DeepReadonly<z.infer<typeof acpServerConfig>>;
