import { availableParallelism } from 'node:os';
import { FairSlots } from '../fair-slots.ts';
import type { CommandBudget } from '../limits/command-budget.ts';
import { limitOfMark, markVariable, nextMark } from '../process-mark.ts';
import type { ConfinedProgram, Program } from '../sandbox/confined-program.ts';
import { followProcess } from './follow-process.ts';
import { launcherFor } from './launcher.ts';
import type { OrderEnd, ProcessEvents, ProcessOrder } from './process-order.ts';

/** Maximum child processes that one process runs at the same time; further ones wait, trees taking turns. */
const PROCESSES = Math.max(8, 4 * availableParallelism());

export interface ProcessPlace {
  readonly cwd: string;
  /** A file descriptor for the standard input; without it the input is empty. */
  readonly stdin?: number;
  /** Called when the process has ended. */
  readonly close: () => void;
}

export interface ProcessRequest extends Program {
  /** Folder in which the program runs; a function is called once a slot is free, so that queued calls hold no descriptors. */
  readonly place: string | (() => ProcessPlace);
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Trees take turns when processes queue for slots; all processes without a tree count as one. */
  readonly tree?: string | undefined;
  readonly timeout_ms: number;
  readonly onOutput: (chunk: Buffer) => void;
  /** Confines the program in a sandbox; called once a slot is free. */
  readonly confine?: ((program: Program) => ConfinedProgram) | undefined;
  /** Resource limits of the program and its descendants. */
  readonly budget?: CommandBudget | undefined;
  /** If absent, standard error is discarded. */
  readonly onErrorOutput?: (chunk: Buffer) => void;
}

export type ProcessEnd =
  | Exclude<OrderEnd, { readonly end: 'over_limit' }>
  | { readonly end: 'over_limit'; readonly why: string };

/** Shared by the whole process: file descriptors and process ids belong to it, not to an agent. */
const slots = new FairSlots({ count: PROCESSES, most: 4 * PROCESSES });

/**
 * Child processes: this folder starts, bounds, marks and stops them, and captures their output.
 *
 * Runs one program in a session and process group of its own and leaves nothing behind: when it exits, times out, exceeds a limit or is aborted, the rest of
 * its group is stopped, too. Time in the queue does not count against `timeout_ms`. Never throws.
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
  let confined: ConfinedProgram | undefined;
  try {
    place = typeof request.place === 'string' ? undefined : request.place();
    confined = request.confine?.(request);
    const order = orderOf(request, confined, place?.cwd ?? (request.place as string), place?.stdin);
    const events: ProcessEvents = {
      onStart: () => {},
      onOutput: request.onOutput,
      onErrorOutput: request.onErrorOutput ?? (() => {}),
      onSandboxReport: (chunk, go) => confined?.told(chunk, go),
    };
    const launcher = launcherFor();
    const end = await (launcher === null
      ? followProcess(order, events, request.signal)
      : launcher.run(order, events, request.signal, request.tree ?? ''));
    if (end.end !== 'over_limit') return end;
    return { end: 'over_limit', why: request.budget?.excessText(end.excess) ?? '' };
  } catch (error) {
    return { end: 'not_started', error: error as NodeJS.ErrnoException };
  } finally {
    confined?.close();
    place?.close();
  }
}

function orderOf(
  request: ProcessRequest,
  confined: ConfinedProgram | undefined,
  cwd: string,
  stdin: number | undefined,
): ProcessOrder {
  const mark = nextMark();
  const { file, args } = confined ?? limited(request, mark);
  const errors = request.onErrorOutput === undefined ? 'ignore' : 'pipe';
  return {
    file,
    args,
    cwd,
    env: { ...request.env, [markVariable]: mark },
    mark,
    stdio: [stdin ?? 'ignore', 'pipe', errors, ...(confined?.stdio ?? [])],
    timeout_ms: request.timeout_ms,
    limits: request.budget?.limits ?? null,
    quotas: request.budget?.quotas ?? [],
    memory: confined?.memory ?? null,
  };
}

/** Sets the system limits, and the mark of a command, by a shell; a sandbox sets them itself, and ends with all that is in it. */
function limited({ file, args, budget, tree }: ProcessRequest, mark: string): Program {
  if ((budget ?? tree) === undefined || process.platform === 'win32') return { file, args };
  const script = `${budget?.script(false) ?? ''}ulimit -S -m ${limitOfMark(mark)} 2>/dev/null; exec "$@"`;
  return { file: '/bin/sh', args: ['-c', script, 'sh', file, ...args] };
}
