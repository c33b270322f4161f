import type { Amounts, Excess } from '../limits/usage.ts';
import type { ConfinedProgram, Program } from '../sandbox/sandbox.ts';

/** A program that is to be run once, as data: another process may start it. */
export interface ProcessOrder extends Program {
  readonly cwd: string;
  /** With the mark. */
  readonly env: Readonly<Record<string, string>>;
  readonly mark: string;
  /** From descriptor 0 on; numbers are descriptors of the process that wrote the order. */
  readonly stdio: readonly ConfinedProgram['stdio'][number][];
  readonly timeout_ms: number;
  /** Null: nothing bounds what it and all that it starts may take. */
  readonly limits: Amounts | null;
  /** Null: no walls. Else the file systems in memory that only it has. */
  readonly memory: readonly string[] | null;
}

/** What becomes of it meanwhile. */
export interface ProcessEvents {
  /** It has begun, in a group and a session of this id. */
  readonly onStart: (leader: number) => void;
  /** No more is read while a promise that is returned is pending. */
  readonly onOutput: (chunk: Buffer) => Promise<void> | void;
  readonly onErrorOutput: (chunk: Buffer) => Promise<void> | void;
  /** What its walls tell of it; it waits for `go` where it has a descriptor 5. */
  readonly onWalls: (chunk: Buffer, go: () => void) => void;
}

export type OrderEnd =
  | { readonly end: 'exited'; readonly code: number | null; readonly signal: NodeJS.Signals | null }
  | { readonly end: 'timed_out' }
  | { readonly end: 'over_limit'; readonly excess: Excess }
  /** `started` is false if it was still queued. */
  | { readonly end: 'aborted'; readonly started: boolean }
  | { readonly end: 'not_started'; readonly error: NodeJS.ErrnoException };
