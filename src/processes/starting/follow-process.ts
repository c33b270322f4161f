import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { LimitWatch } from '../limits/limit-watch.ts';
import type { Processes } from '../limits/process-usage.ts';
import {
  forgetProcessGroup,
  isProcessGroupAlive,
  registerProcessGroup,
  stopProcessGroup,
} from '../process-group.ts';
import { forwardSandboxReport, leaderWithin } from '../sandbox/sandbox-report.ts';
import { killStraysOfCall, sweepStraysOfCallSoon } from '../stray-processes.ts';
import type { OrderEnd, ProcessEvents, ProcessOrder } from './process-order.ts';

/** Grace period between TERM and KILL: for a stopped command, and for processes that a command left behind. */
const STOP_GRACE_MS = 1_000;
const LEFTOVER_GRACE_MS = 200;
/** How long to wait for output after the shell has ended: without a byte, and in total. */
const DRAIN_IDLE_MS = 150;
const DRAIN_TOTAL_MS = 2_000;

type Stop = Exclude<OrderEnd, { readonly end: 'exited' | 'not_started' }>;

/**
 * Runs one program in a session and process group of its own and leaves nothing behind: when it exits, times out, exceeds a limit or is aborted, the rest of
 * its group is stopped, too. Throws what `spawn` throws.
 */
export async function followProcess(
  order: ProcessOrder,
  events: ProcessEvents,
  signal: AbortSignal,
): Promise<OrderEnd> {
  const child = spawn(order.file, order.args, {
    cwd: order.cwd,
    env: order.env,
    stdio: [...order.stdio],
    detached: true, // a session and a group of its own
    windowsHide: true,
  });
  const leader = child.pid;
  if (leader === undefined) {
    const error = await new Promise<NodeJS.ErrnoException>((resolve) => child.once('error', resolve));
    return { end: 'not_started', error };
  }
  registerProcessGroup(leader);
  let told = '';
  if (order.memory !== null)
    forwardSandboxReport(child, (chunk, go) => {
      told += chunk;
      events.onSandboxReport(chunk, go);
    });
  events.onStart(leader);
  try {
    return await follow(child, leader, () => leaderWithin(told), order, events, signal);
  } finally {
    forgetProcessGroup(leader);
    sweepStraysOfCallSoon(order.mark);
  }
}

async function follow(
  child: ChildProcess,
  leader: number,
  within: () => number | undefined,
  { limits, quotas, memory, mark, timeout_ms }: ProcessOrder,
  events: ProcessEvents,
  signal: AbortSignal,
): Promise<OrderEnd> {
  /** Process group of the program itself, if it is sandboxed; otherwise that of the child. */
  const inner = (): number => within() ?? leader;
  const processes = (): Processes | undefined => {
    if (memory === null) return { type: 'session', leader };
    const first = within();
    return first === undefined ? undefined : { type: 'namespace', first, memory };
  };
  const output = new ChildOutput(child, events);
  let stopped: Stop | undefined;
  let watch: LimitWatch | undefined;
  const exit = await new Promise<OrderEnd | undefined>((resolve) => {
    const stop = (why: Stop): void => {
      stopped ??= why;
      resolve(undefined);
    };
    const onAbort = (): void => stop({ end: 'aborted', started: true });
    const timer = setTimeout(stop, timeout_ms, { end: 'timed_out' });
    const onExcess = (excess: Extract<Stop, { end: 'over_limit' }>['excess']): void => {
      stop({ end: 'over_limit', excess });
      // No grace period, in which it would use more.
      void stopProcessGroup(inner(), 0);
    };
    if (limits !== null) watch = new LimitWatch(limits, processes, onExcess, quotas);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    child.once('exit', (code, by) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      resolve({ end: 'exited', code, signal: by });
    });
  });
  if (stopped !== undefined) await stopProcessGroup(inner(), STOP_GRACE_MS);
  // Output written before the exit may still arrive; a process substitution may be about to finish.
  else await output.drained();
  if (isProcessGroupAlive(leader)) await stopProcessGroup(leader, LEFTOVER_GRACE_MS);
  if (stopped !== undefined || !output.closed) {
    killStraysOfCall(mark);
    await output.drained();
    output.abandon();
  }
  watch?.close();
  return stopped ?? (exit as OrderEnd);
}

/** The pipes of a child: forwards output, and detects when no more will come. */
class ChildOutput {
  closed = false;
  readonly #child: ChildProcess;
  #last_at_ms = 0;
  /** Number of pipes that are paused until their last chunk is taken (backpressure). */
  #paused = 0;
  #onClose: (() => void) | undefined;

  constructor(child: ChildProcess, events: ProcessEvents) {
    this.#child = child;
    child.once('close', () => {
      this.closed = true;
      this.#onClose?.();
    });
    // The pipes go both ways: a program that wants keys and finds no terminal would wait for them there.
    for (const pipe of [child.stdout, child.stderr]) (pipe as Partial<Socket> | null)?.end?.();
    this.#forward(child.stdout, events.onOutput);
    this.#forward(child.stderr, events.onErrorOutput);
  }

  #forward(stream: NodeJS.ReadableStream | null, onChunk: (chunk: Buffer) => Promise<void> | void): void {
    stream?.on('data', (chunk: Buffer) => {
      this.#last_at_ms = performance.now();
      const taken = onChunk(chunk);
      if (!(taken instanceof Promise)) return;
      this.#paused += 1;
      stream.pause();
      void taken.then(() => {
        this.#paused -= 1;
        this.#last_at_ms = performance.now();
        stream.resume();
      });
    });
    stream?.on('error', () => {}); // a broken pipe ends the stream; `close` follows
  }

  /** Resolves when all pipes are closed, after a period without output, or when output takes too long to end. */
  drained(): Promise<void> {
    if (this.closed) return Promise.resolve();
    return new Promise((resolve) => {
      let since_ms = performance.now();
      this.#last_at_ms = since_ms;
      const done = (): void => {
        clearInterval(timer);
        this.#onClose = undefined;
        resolve();
      };
      this.#onClose = done;
      const pause_ms = DRAIN_IDLE_MS / 3;
      const timer = setInterval(() => {
        // In a busy process the timer may fire before pending output was read: let one round of I/O pass.
        setImmediate(() => {
          const now_ms = performance.now();
          // Backpressure, not the child, takes the time: it does not count.
          if (this.#paused > 0) {
            since_ms += pause_ms;
            return;
          }
          const idle = now_ms - this.#last_at_ms >= DRAIN_IDLE_MS;
          if (idle || now_ms - since_ms >= DRAIN_TOTAL_MS) done();
        });
      }, pause_ms);
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
