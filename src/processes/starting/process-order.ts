import type { FolderQuota } from '../limits/folder-usage.ts';
import type { Amounts, Excess } from '../limits/process-usage.ts';
import type { ConfinedProgram, Program } from '../sandbox/confined-program.ts';

/** One run of a program, as data, so that another process can start it. */
export interface ProcessOrder extends Program {
  readonly cwd: string;
  /** Includes the mark. */
  readonly env: Readonly<Record<string, string>>;
  readonly mark: string;
  /** Descriptors from 0 on; numbers are descriptors of the process that wrote the order. */
  readonly stdio: readonly ConfinedProgram['stdio'][number][];
  readonly timeout_ms: number;
  /** Resource limits of the program and its descendants; null: none. */
  readonly limits: Amounts | null;
  /** Limits of what folders hold; only with `limits`. */
  readonly quotas: readonly FolderQuota[];
  /** In-memory file systems of the program's sandbox; null: no sandbox. */
  readonly memory: readonly string[] | null;
}

/** Callbacks while the program runs. */
export interface ProcessEvents {
  /** The program has started; `leader` is the id of its process group and session. */
  readonly onStart: (leader: number) => void;
  /** Reading pauses while a returned promise is pending (backpressure). */
  readonly onOutput: (chunk: Buffer) => Promise<void> | void;
  readonly onErrorOutput: (chunk: Buffer) => Promise<void> | void;
  /** Reports of the sandbox. A program with a descriptor 5 waits until `go` is called. */
  readonly onSandboxReport: (chunk: Buffer, go: () => void) => void;
}

export type OrderEnd =
  | { readonly end: 'exited'; readonly code: number | null; readonly signal: NodeJS.Signals | null }
  | { readonly end: 'timed_out' }
  | { readonly end: 'over_limit'; readonly excess: Excess }
  /** `started` is false if the program was still queued. */
  | { readonly end: 'aborted'; readonly started: boolean }
  | { readonly end: 'not_started'; readonly error: NodeJS.ErrnoException };

/** Messages to the process that starts programs. `id`: that of the call. */
export type ToLauncher =
  | { readonly type: 'run'; readonly id: number; readonly order: ProcessOrder }
  | { readonly type: 'go' | 'abort'; readonly id: number };

export type FromLauncher =
  | { readonly type: 'ready' }
  | { readonly type: 'started'; readonly id: number; readonly leader: number }
  | { readonly type: 'output' | 'error' | 'sandbox'; readonly id: number; readonly chunk: Buffer }
  /** An error is sent as its message and code, because its other properties are lost between processes. */
  | { readonly type: 'not_started'; readonly id: number; readonly message: string; readonly code?: string }
  | { readonly type: 'ended'; readonly id: number; readonly end: Exclude<OrderEnd, { end: 'not_started' }> };
