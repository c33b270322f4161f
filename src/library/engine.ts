import { inspect } from 'node:util';
import * as z from 'zod';
import { CoppiceError } from '../records/coppice-error.ts';
import { unlessAborted } from '../records/unless-aborted.ts';
import type { RuntimeEvent } from '../runtime/runtime-event.ts';
import type {
  ResumeOptions,
  ResumeReport,
  RuntimeFace,
  StartOptions,
  TreeOutcome,
} from '../runtime/runtime-face.ts';
import { checkGiven } from '../settings/check-settings.ts';
import { nodeTooOld } from '../settings/node-version.cjs';

/** How long a call may take. */
export interface Patience {
  readonly signal?: AbortSignal;
  readonly timeout_ms?: number;
}

/** Handle on a root agent and its tree. */
export interface RunningAgent {
  /** Uuid by which other processes can find the agent. */
  readonly id: string;
  /** Resolves, with its last reply or failure, once neither it nor an agent below it is working any more. Patience ends the wait, not the work. */
  result(patience?: Patience): Promise<TreeOutcome>;
  /** Sends the agent a letter from a person. */
  send(text: string, patience?: Patience): Promise<void>;
  /** Interrupts its turn; its children continue. */
  interrupt(reason?: string): Promise<void>;
  /** Kills it and its living descendants; resolves to the ids of all killed agents. */
  kill(): Promise<readonly string[]>;
}

/** A runtime on one ledger. All methods reject with a `CoppiceError` or a `StoreError`. */
export interface Engine<Options> {
  start(options: Options): Promise<RunningAgent>;
  /** Takes over a tree that no living process leads, and continues it. */
  resume(root_id: string, options?: ResumeOptions): Promise<RunningAgent & { readonly report: ResumeReport }>;
  /**
   * Calls `listener` for the events of all agents of this process; returns a function that unsubscribes. A listener that throws or rejects stops nothing: the
   * process emits a warning (`COPPICE_CALLBACK`) of its first error.
   */
  subscribe(listener: (event: RuntimeEvent) => void): () => void;
  /** Sends mail to any agent by its uuid. */
  send(agent_id: string, text: string, patience?: Patience): Promise<void>;
  kill(agent_id: string): Promise<readonly string[]>;
  /** Stops all work of this process. Nothing is lost: `resume` continues it. */
  close(): Promise<void>;
}

/** What programs see of a runtime. `rootOf`: the root that the options of a start describe; throws a `CoppiceError` for wrong ones. */
export function engineOn<Options>(
  runtime: RuntimeFace,
  rootOf: (options: Options) => StartOptions,
): Engine<Options> {
  return {
    start: async (options) => agentHandle(runtime, (await runtime.start(rootOf(options))).id),
    async resume(root_id, how) {
      assertId(root_id, 'resume');
      const report = await runtime.resume(root_id, how);
      return { ...agentHandle(runtime, root_id), report };
    },
    subscribe(listener) {
      if (typeof listener === 'function') return runtime.subscribe(harmless(listener));
      throw new CoppiceError('E_INVALID_ARGUMENT', 'subscribe needs a function');
    },
    async send(agent_id, text, patience) {
      assertId(agent_id, 'send');
      return agentHandle(runtime, agent_id).send(text, patience);
    },
    async kill(agent_id) {
      assertId(agent_id, 'kill');
      return runtime.kill(agent_id);
    },
    close: () => runtime.close(),
  };
}

/** As the listener, but its errors end nobody's service; people are told of the first, as a listener that fails once often fails each time. */
function harmless(listener: (event: RuntimeEvent) => unknown): (event: RuntimeEvent) => void {
  let told = false;
  const failed = (error: unknown) => {
    if (!told) warnOfCallback('of subscribe', error);
    told = true;
  };
  return (event) => {
    try {
      const result = listener(event);
      if (result instanceof Promise) result.catch(failed);
    } catch (error) {
      failed(error);
    }
  };
}

/** Whoever calls a program's function goes on without it. */
export function warnOfCallback(name: string, error: unknown): void {
  const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.emitWarning(`the callback ${name} failed: ${reason}`, { code: 'COPPICE_CALLBACK' });
}

export function agentHandle(runtime: RuntimeFace, id: string): RunningAgent {
  return {
    id,
    result: (patience) =>
      patiently('result', patience, (signal) => runtime.settled(id, 'tree', signal), {
        hint: 'The agents work on: call result() again, or kill()',
      }),
    send: (text, patience) =>
      patiently('send', patience, async () => void (await runtime.send(id, text)), {
        hint: 'The letter may have been sent all the same',
      }),
    async interrupt(reason = 'by the program') {
      if (typeof reason === 'string') return runtime.interrupt(id, reason);
      throw new CoppiceError('E_INVALID_ARGUMENT', 'interrupt: the reason must be a text');
    },
    kill: () => runtime.kill(id),
  };
}

function assertId(id: unknown, method: string): void {
  if (typeof id !== 'string')
    throw new CoppiceError('E_INVALID_ARGUMENT', `${method} needs the id of one agent`);
}

const PATIENCE = z.object({ signal: z.unknown().optional(), timeout_ms: z.unknown().optional() });
/** Longest that a timer can run. */
const TIMEOUT_MS_MAX = 2_000_000_000;

/** Throws `E_INVALID_ARGUMENT` for a signal that is none, and for a time that is no time. */
export function checkPatience({ signal, timeout_ms: ms }: Patience, method: string): void {
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw new CoppiceError('E_INVALID_ARGUMENT', `${method}: signal is not an AbortSignal`, {
      hint: 'Give the signal of an AbortController',
    });
  if (ms !== undefined && !(typeof ms === 'number' && ms > 0 && ms <= TIMEOUT_MS_MAX))
    throw new CoppiceError('E_INVALID_ARGUMENT', `${method}: timeout_ms is ${inspect(ms)}`, {
      hint: `Give milliseconds: a number above 0, at most ${TIMEOUT_MS_MAX}`,
    });
}

/** Resolves as `work` does. Rejects with `E_ABORTED` or `E_TIMEOUT` if patience ends first; `work` gets the signal of that. */
export async function patiently<T>(
  method: string,
  patience: Patience = {},
  work: (signal?: AbortSignal) => Promise<T>,
  advice: { readonly hint?: string } = {},
): Promise<T> {
  checkGiven(PATIENCE, patience, method);
  checkPatience(patience, method);
  const { signal: given, timeout_ms } = patience;
  if (given === undefined && timeout_ms === undefined) return work();
  const late = timeout_ms === undefined ? [] : [AbortSignal.timeout(timeout_ms)];
  const signal = AbortSignal.any([...(given === undefined ? [] : [given]), ...late]);
  const impatient = () =>
    given?.aborted === true
      ? new CoppiceError('E_ABORTED', `${method}: ${abortText(given)}`, { ...advice, cause: given.reason })
      : new CoppiceError('E_TIMEOUT', `${method}: not within ${timeout_ms} ms`, {
          ...advice,
          retryable: true,
        });
  if (signal.aborted) throw impatient();
  // Work that heeds the signal rejects with its reason, which says less.
  const stopped = (error?: unknown) => {
    throw signal.aborted ? impatient() : error;
  };
  return unlessAborted(work(signal).catch(stopped), signal, stopped);
}

/** What a signal was aborted for, for people. */
export function abortText({ reason }: AbortSignal): string {
  const said = reason instanceof Error ? reason.message : String(reason);
  return reason instanceof DOMException ? 'aborted by the program' : `aborted by the program: ${said}`;
}

/** Throws `E_NODE_TOO_OLD`, before anything that an older Node lacks is used. */
export function refuseOldNode(): void {
  // Bun and Deno run the library, and say which Node they are like.
  const too_old = nodeTooOld(process.versions.node, {});
  if (too_old !== null) throw new CoppiceError('E_NODE_TOO_OLD', too_old);
}
