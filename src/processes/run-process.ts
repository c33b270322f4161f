import { type ChildProcess, spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { FairSlots } from './fair-slots.ts';
import type { CommandBudget } from './limits/command-budget.ts';
import type { LimitWatch } from './limits/limit-watch.ts';
import type { Processes } from './limits/usage.ts';
import {
  forgetProcessGroup,
  isProcessGroupAlive,
  registerProcessGroup,
  stopProcessGroup,
} from './process-group.ts';
import { markVariable, nextMark } from './process-mark.ts';
import type { ConfinedProgram, Program } from './sandbox/sandbox.ts';
import { killStraysOfCall, sweepStraysOfCallSoon } from './stray-processes.ts';
import { TOOL_LIMITS } from './tool-limits.ts';

export interface ProcessPlace {
  readonly cwd: string;
  /** A file descriptor for the standard input; without it the input is empty. */
  readonly stdin?: number;
  /** Called when the process has ended. */
  readonly close: () => void;
}

export interface ProcessRequest extends Program {
  /** Where it runs; a function is called once a slot is free, so that queued calls hold no descriptors. */
  readonly place: string | (() => ProcessPlace);
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Trees take turns where processes wait for each other; without one it counts as of a tree of its own. */
  readonly tree?: string | undefined;
  readonly timeout_ms: number;
  readonly onOutput: (chunk: Buffer) => void;
  /** Puts it behind walls; called once a slot is free. */
  readonly confine?: ((program: Program) => ConfinedProgram) | undefined;
  /** What it and all that it starts may take. */
  readonly budget?: CommandBudget | undefined;
  /** Without it standard error is discarded. */
  readonly onErrorOutput?: (chunk: Buffer) => void;
}

export type ProcessEnd =
  | { readonly end: 'exited'; readonly code: number | null; readonly signal: NodeJS.Signals | null }
  | { readonly end: 'timed_out' }
  | { readonly end: 'over_limit'; readonly why: string }
  /** `started` is false if it was still queued. */
  | { readonly end: 'aborted'; readonly started: boolean }
  | { readonly end: 'not_started'; readonly error: NodeJS.ErrnoException };

type Stop = Exclude<ProcessEnd, { readonly end: 'exited' | 'not_started' }>;

/** Shared by the whole process: file descriptors and process ids belong to it, not to an agent. */
const AT_ONCE = Math.max(8, 4 * availableParallelism());
const slots = new FairSlots({ count: AT_ONCE, most: 4 * AT_ONCE });

/**
 * Child processes: this folder starts, bounds, marks and stops them, and captures their output.
 *
 * Runs one program in a session and process group of its own and leaves nothing behind: when it exits, times out or is
 * aborted, the rest of its group is stopped too. Time in the queue does not count against `timeout_ms`. Never throws.
 */
export async function runProcess(request: ProcessRequest): Promise<ProcessEnd> {
  const { tree = '', signal } = request;
  if (!(await slots.acquire(tree, signal))) return { end: 'aborted', started: false };
  try {
    return await runNow(request);
  } finally {
    slots.release(tree);
  }
}

async function runNow(request: ProcessRequest): Promise<ProcessEnd> {
  let place: ProcessPlace | undefined;
  try {
    place = typeof request.place === 'string' ? undefined : request.place();
    return await startAndFollow(request, place?.cwd ?? (request.place as string), place?.stdin);
  } catch (error) {
    return { end: 'not_started', error: error as NodeJS.ErrnoException };
  } finally {
    place?.close();
  }
}

async function startAndFollow(request: ProcessRequest, cwd: string, stdin?: number): Promise<ProcessEnd> {
  const mark = nextMark();
  const confined = request.confine?.(request);
  try {
    const { file, args } = confined ?? limited(request);
    const child = spawn(file, args, {
      cwd,
      env: { ...request.env, [markVariable]: mark },
      stdio: [
        stdin ?? ('ignore' as const),
        'pipe',
        request.onErrorOutput === undefined ? 'ignore' : 'pipe',
        ...(confined?.stdio ?? []),
      ],
      detached: true, // a session and a group of its own
      windowsHide: true,
    });
    const leader = child.pid;
    if (leader === undefined) {
      const error = await new Promise<NodeJS.ErrnoException>((resolve) => child.once('error', resolve));
      return { end: 'not_started', error };
    }
    registerProcessGroup(leader);
    confined?.begin(child);
    try {
      const processes = (): Processes | undefined => {
        if (confined === undefined) return { type: 'session', leader };
        const first = confined.leader();
        return first === undefined ? undefined : { type: 'namespace', first, memory: confined.memory };
      };
      const inner = (): number => confined?.leader() ?? leader;
      return await follow(child, { leader, inner, processes, mark }, request);
    } finally {
      forgetProcessGroup(leader);
      sweepStraysOfCallSoon(mark);
    }
  } finally {
    confined?.close();
  }
}

/** Walls set the limits of the system themselves. */
function limited({ file, args, budget }: ProcessRequest): Program {
  if (budget === undefined || process.platform === 'win32') return { file, args };
  return { file: '/bin/sh', args: ['-c', `${budget.script(false)}exec "$@"`, 'sh', file, ...args] };
}

/** How a child and what it started are known. */
interface Identity {
  readonly leader: number;
  /** Of the program itself, where that stands behind walls. */
  readonly inner: () => number;
  readonly processes: () => Processes | undefined;
  readonly mark: string;
}

async function follow(
  child: ChildProcess,
  { leader, inner, processes, mark }: Identity,
  request: ProcessRequest,
): Promise<ProcessEnd> {
  const output = new ChildOutput(child, request);
  let stopped: Stop | undefined;
  let watch: LimitWatch | undefined;
  const exit = await new Promise<ProcessEnd | undefined>((resolve) => {
    const stop = (why: Stop): void => {
      stopped ??= why;
      resolve(undefined);
    };
    const onAbort = (): void => stop({ end: 'aborted', started: true });
    const timer = setTimeout(stop, request.timeout_ms, { end: 'timed_out' });
    watch = request.budget?.watch(processes, (why) => {
      stop({ end: 'over_limit', why });
      // What takes too much gets no grace, in which it would take more.
      void stopProcessGroup(inner(), 0);
    });
    request.signal.addEventListener('abort', onAbort, { once: true });
    if (request.signal.aborted) onAbort();
    child.once('exit', (code, signal) => {
      clearTimeout(timer);
      request.signal.removeEventListener('abort', onAbort);
      resolve({ end: 'exited', code, signal });
    });
  });
  if (stopped !== undefined) await stopProcessGroup(inner(), TOOL_LIMITS.stop_grace_ms);
  // Output written before the exit may still arrive; a process substitution may be about to finish.
  else await output.drained();
  if (isProcessGroupAlive(leader)) await stopProcessGroup(leader, TOOL_LIMITS.leftover_grace_ms);
  if (stopped !== undefined || !output.closed) {
    killStraysOfCall(mark);
    await output.drained();
    output.abandon();
  }
  watch?.close();
  return stopped ?? (exit as ProcessEnd);
}

/** The pipes of a child: forwards output, and knows when no more will come. */
class ChildOutput {
  closed = false;
  readonly #child: ChildProcess;
  #last_at_ms = 0;
  #onClose: (() => void) | undefined;

  constructor(child: ChildProcess, request: ProcessRequest) {
    this.#child = child;
    child.once('close', () => {
      this.closed = true;
      this.#onClose?.();
    });
    this.#forward(child.stdout, request.onOutput);
    this.#forward(child.stderr, request.onErrorOutput);
  }

  #forward(stream: NodeJS.ReadableStream | null, onChunk: ((chunk: Buffer) => void) | undefined): void {
    stream?.on('data', (chunk: Buffer) => {
      this.#last_at_ms = performance.now();
      onChunk?.(chunk);
    });
    stream?.on('error', () => {}); // a broken pipe ends the stream; `close` follows
  }

  /** Resolves when all pipes are closed, after a while without output, or when output takes too long to end. */
  drained(): Promise<void> {
    if (this.closed) return Promise.resolve();
    return new Promise((resolve) => {
      const since_ms = performance.now();
      this.#last_at_ms = since_ms;
      const done = (): void => {
        clearInterval(timer);
        this.#onClose = undefined;
        resolve();
      };
      this.#onClose = done;
      const timer = setInterval(() => {
        // In a busy process the timer may fire before pending output was read: let one round of I/O pass.
        setImmediate(() => {
          const now_ms = performance.now();
          const idle = now_ms - this.#last_at_ms >= TOOL_LIMITS.drain_idle_ms;
          if (idle || now_ms - since_ms >= TOOL_LIMITS.drain_total_ms) done();
        });
      }, TOOL_LIMITS.drain_idle_ms / 3);
    });
  }

  /** Closes pipes that a process beyond our reach still holds open. */
  abandon(): void {
    if (this.closed) return;
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
    this.#child.unref();
  }
}
