import * as z from 'zod';
import type { DeepReadonly } from '../../records/deep-readonly.ts';

export const folderName = z.string().regex(/^(~?\/)/, 'must be absolute, or begin with ~/');

export const hostName = z
  .string()
  .regex(
    /^(\*|(\*\.)?[\w.-]+|\[[\da-fA-F:.]+\])(:\d{1,5})?$/,
    'must be a name, *.NAME, * or an address, and may end in :PORT',
  );

/** What the processes of a command, or of a program that stays, may take together (docs/sandbox.md); null: no limit. */
export const processLimits = z.strictObject({
  memory_mb: z.number().min(16).nullable().optional(),
  processes: z.int().min(16).nullable().optional(),
  cpu_seconds: z.number().min(1).nullable().optional(),
  disk_mb: z.number().min(1).nullable().optional(),
});

/** What the configuration of a program that stays says of its walls, and what it may take. */
export const programWalls = z.strictObject({
  /** No walls: the program has all rights of the user. Without it, it has those of commands. */
  sandbox: z.literal('off').optional(),
  /** What it may reach beside what commands may, written as in `sandbox.hosts`. */
  hosts: z.array(hostName).optional(),
  /** Folders and files that it may write to beside what commands may, as those in which it keeps its login; they must exist. */
  writable: z.array(folderName).optional(),
  /** Whether it may use sockets of the file system, as Chromium does among its own processes. */
  sockets: z.boolean().optional(),
  /** Without walls, too. Memory and processes are bounded as those of a command when left out, the rest is not. */
  limits: processLimits.optional(),
});

export type ProgramWalls = DeepReadonly<z.infer<typeof programWalls>>;
