import * as z from 'zod';
import type { DeepReadonly } from '../../records/deep-readonly.ts';

export const folderName = z.string().regex(/^(~?\/)/, 'must be absolute, or begin with ~/');

export const hostName = z
  .string()
  .regex(
    /^(\*|(\*\.)?[\w.-]+|\[[\da-fA-F:.]+\])(:\d{1,5})?$/,
    'must be a name, *.NAME, * or an address, and may end in :PORT',
  );

/** Resource limits for all processes of a command, or of a long-running program, together (docs/sandbox.md); null: no limit. */
export const processLimits = z.strictObject({
  memory_mb: z.number().min(16).nullable().optional(),
  processes: z.int().min(16).nullable().optional(),
  cpu_seconds: z.number().min(1).nullable().optional(),
  disk_mb: z.number().min(1).nullable().optional(),
});

/** Resource limits of commands: in addition, of what the /tmp of a tree and the agent's folder hold. */
export const commandLimits = processLimits.extend({
  files: z.int().min(100).nullable().optional(),
  folder_mb: z.number().min(1).nullable().optional(),
});

/** Configuration of a long-running program: its sandbox and resource limits. */
export const sandboxNeeds = z.strictObject({
  /** `off`: no sandbox, all rights of the user. Default: the sandbox of commands. */
  sandbox: z.literal('off').optional(),
  /** Hosts that the program may reach in addition to those of commands, written as in `sandbox.hosts`. */
  hosts: z.array(hostName).optional(),
  /** Folders and files that the program may write in addition to those of commands, such as the one with its login; they must exist. */
  writable: z.array(folderName).optional(),
  /** Whether the program may use Unix domain sockets, as Chromium does between its own processes. */
  sockets: z.boolean().optional(),
  /** Resource limits, which also apply without a sandbox. Default for memory and processes: as for commands; for the rest: no limit. */
  limits: processLimits.optional(),
});

export type SandboxNeeds = DeepReadonly<z.infer<typeof sandboxNeeds>>;
