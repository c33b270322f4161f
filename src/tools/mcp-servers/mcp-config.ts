import * as z from 'zod';
import { sandboxNeeds } from '../../processes/sandbox/sandbox-needs.ts';
import type { DeepReadonly } from '../../records/deep-readonly.ts';

/** Maximum length of a server's name: longer ones would leave too little of the 64 characters that providers accept for a tool. */
const NAME_MAX = 32;

/** `__`, or `_` at the end, would make the names of tools ambiguous. */
const SERVER_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9-]|_(?=[A-Za-z0-9-])){0,31}$/;

export const serverName = z
  .string()
  .max(NAME_MAX)
  .regex(
    SERVER_NAME,
    `must have letters, digits, "-" and single "_" between them, at most ${NAME_MAX} characters`,
  );

/** Derives a name for a server that another program calls `written`, because others allow any name; null if nothing of it can be used. */
export function serverNameFrom(written: string): string | null {
  const name = written
    .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
    .replaceAll(/_{2,}/g, '_')
    .replaceAll(/^[-_]+/g, '')
    .slice(0, NAME_MAX)
    .replaceAll(/[-_]+$/g, '');
  return SERVER_NAME.test(name) ? name : null;
}

/** One server: a program that speaks MCP on its standard streams, or an address that speaks it over HTTP. */
export const mcpServerConfig = z
  .strictObject({
    command: z.string().min(1).optional(),
    args: z.array(z.string()).optional(),
    /** Variables set for the program, with their values; keys belong in `envAllow`. */
    env: z.record(z.string(), z.string()).optional(),
    /** Names of variables of our own environment that are passed on. */
    envAllow: z.array(z.string().min(1)).optional(),
    ...sandboxNeeds.shape,
    /** Whether each agent has its own process, or its own session at the address: for servers that keep state, such as browsers. */
    perAgent: z.boolean().optional(),
    url: z.url({ protocol: /^https?$/ }).optional(),
    headers: z.record(z.string(), z.string()).optional(),
    /** Headers whose values are in variables of our own environment: `{ "Authorization": "TRACKER_TOKEN" }`. */
    headersEnv: z.record(z.string(), z.string().min(1)).optional(),
    /** Maximum time of a call without a result or progress; default 120. */
    timeoutSeconds: z.number().positive().max(86_400).optional(),
    /** Maximum time from the start to the list of tools; default 30. */
    startTimeoutSeconds: z.number().positive().max(3_600).optional(),
  })
  .refine(({ command, url }) => (command === undefined) !== (url === undefined), {
    path: ['command'],
    message: 'must be given, or "url" instead: a server is a program or an address',
  });

export type McpServerConfig = DeepReadonly<z.infer<typeof mcpServerConfig>>;

export const mcpConfig = z.strictObject({
  servers: z.record(serverName, mcpServerConfig).optional(),
  /** Maximum number of server tools that are described to a model from the start; if there are more, it gets a search. Default 30. */
  direct: z.int().min(0).max(200).optional(),
});

export type McpConfig = DeepReadonly<z.infer<typeof mcpConfig>>;
