import * as z from 'zod';
import { programWalls } from '../../processes/sandbox/program-walls.ts';
import type { DeepReadonly } from '../../records/deep-readonly.ts';
import { price } from '../provider/provider-config.ts';

/** One entry of `acp` in the configuration: an agent program that speaks the Agent Client Protocol on its standard streams. */
export const acpServerConfig = z.strictObject({
  command: z.string().min(1),
  args: z.array(z.string()).optional(),
  /** Variables set for the program, values included; keys belong into `envAllow`. */
  env: z.record(z.string(), z.string()).optional(),
  /** Names of variables of our own environment that are passed on, provider keys included. */
  envAllow: z.array(z.string().min(1)).optional(),
  /** Prompts at once; default 8. */
  maxSessions: z.int().positive().optional(),
  /** From the start to the answer of `initialize`; default 30. */
  startTimeoutSeconds: z.number().positive().optional(),
  /** Names of `mcp.servers` that it is told of: it starts or asks them itself, in each of its sessions. */
  mcpServers: z.array(z.string().min(1)).optional(),
  /** Dollars per million of the tokens that it tells; goes before the cost that it tells. */
  price: price.optional(),
  /** What is left out is known for some programs (docs/acp.md). */
  ...programWalls.shape,
});

export type AcpServerConfig = DeepReadonly<z.infer<typeof acpServerConfig>>;
