import { readFile } from 'node:fs/promises';
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { afterWork } from '../../processes/waiting.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import type { ScriptMeta } from './script-source.ts';
import {
  type CompiledWasm,
  type RecordedCall,
  SCRIPT_LIMITS,
  type ScriptEntry,
  type ScriptEvent,
  type ScriptRequest,
  type ScriptSetup,
  type ScriptState,
  type ScriptStep,
} from './script-step.ts';
import type { ScriptOpening } from './script-worker.ts';

/** Sent to the thread at once: what this thread copies in a few milliseconds. */
const ENTRIES_AT_ONCE = 200;
/** An interpreter has this much stack (`script-machine.ts`), and the host needs many times that to run it. */
const STACK_MB = 8;
const HEAP_MB = 512;

/**
 * A script in a thread of its own. Nothing that a script does holds up the thread that opened it. The run can be let go at any time: opened again and fed the same
 * results in the same order, it is where it was.
 */
export interface ScriptRun {
  readonly meta: ScriptMeta;
  /**
   * Gives the script results in the order in which they were recorded, one at a time, and returns what it does. The first call starts the script.
   * `recorded`, with the first call only: what the script must ask for; after all entries, a difference is a state `failed` of kind `diverged`. Calls run one
   * after another.
   */
  feed(entries: readonly ScriptEntry[], recorded?: readonly RecordedCall[]): Promise<ScriptStep>;
  /** Ends the thread. */
  dispose(): Promise<void>;
}

/** How long a thread waits for the next script. It starts in 45 ms, and opens a script in 8. */
const SPARE_MS = 5_000;

let wasm: Promise<CompiledWasm> | undefined;

const { WebAssembly: assembly } = globalThis as unknown as {
  readonly WebAssembly: { readonly compile: (bytes: Uint8Array) => Promise<CompiledWasm> };
};
let spare: ScriptThread | null = null;

/** Opens a script, which does not run yet. Rejects with `E_SCRIPT` if it cannot run. */
export async function openScript(setup: ScriptSetup): Promise<ScriptRun> {
  const limits = { ...SCRIPT_LIMITS, ...setup.limits };
  wasm ??= readFile(new URL(import.meta.resolve('@jitl/quickjs-ng-wasmfile-release-sync/wasm'))).then(
    (bytes) => assembly.compile(bytes),
  );
  const thread = spare ?? new ScriptThread();
  spare = null;
  const opening: ScriptOpening = { wasm: await wasm, setup, limits };
  const opened = await thread.ask<{ readonly meta: ScriptMeta } | { readonly refused: string }>(
    opening,
    limits.held_ms,
  );
  if (spare === null) {
    const next = new ScriptThread();
    spare = next;
    setTimeout(() => {
      if (spare !== next) return;
      spare = null;
      next.end();
    }, SPARE_MS).unref();
  }
  if ('meta' in opened) return new ThreadedRun(opened.meta, thread, limits.held_ms);
  await thread.end();
  if ('refused' in opened) throw new CoppiceError('E_SCRIPT', opened.refused);
  throw new CoppiceError('E_SCRIPT', `the workflow script cannot be opened: ${opened.held}`);
}

class ThreadedRun implements ScriptRun {
  readonly meta: ScriptMeta;
  readonly #thread: ScriptThread;
  #begun = false;
  #end: ScriptState | null = null;
  #queue: Promise<unknown> = Promise.resolve();

  readonly #held_ms: number;

  constructor(meta: ScriptMeta, thread: ScriptThread, held_ms: number) {
    this.meta = meta;
    this.#thread = thread;
    this.#held_ms = held_ms;
  }

  feed(entries: readonly ScriptEntry[], recorded: readonly RecordedCall[] = []): Promise<ScriptStep> {
    const step = this.#queue.then(() => this.#feed(entries, recorded));
    this.#queue = step.catch(() => {});
    return step;
  }

  async #feed(entries: readonly ScriptEntry[], recorded: readonly RecordedCall[]): Promise<ScriptStep> {
    const events: ScriptEvent[] = [];
    let state: ScriptState = this.#end ?? { type: 'stuck' };
    for (let at = 0; this.#end === null; ) {
      const some = entries.slice(at, at + ENTRIES_AT_ONCE);
      at += ENTRIES_AT_ONCE;
      const last = at >= entries.length;
      const request: ScriptRequest = {
        entries: some,
        recorded: this.#begun ? null : recorded,
        last,
      } as ScriptRequest;
      this.#begun = true;
      const step = await this.#thread.ask<ScriptStep>(request, this.#held_ms);
      if ('held' in step) {
        state = { type: 'failed', failure: { kind: 'limit', message: step.held, line: null, stack: [] } };
        await this.#thread.end();
      } else {
        events.push(...step.events);
        state = step.state;
      }
      if (state.type === 'failed' || (state.type === 'done' && last)) this.#end = state;
      if (last) break;
      await setImmediate();
    }
    return { events, state };
  }

  dispose(): Promise<void> {
    return this.#thread.end();
  }
}

/** Why a thread gave no answer. */
type Held = { readonly held: string };

/** One question at a time, each with an answer, or the end of the thread. */
class ScriptThread {
  readonly #worker: Worker;
  #answered: ((answer: object) => void) | null = null;
  #over: Held | null = null;

  constructor() {
    // Threads take what is compiled already from where their process does only if they are told.
    const cache = getCompileCacheDir();
    const worker = new Worker(new URL('./script-worker.ts', import.meta.url), {
      env: cache === undefined ? {} : { NODE_COMPILE_CACHE: dirname(cache) },
      execArgv: [],
      resourceLimits: { stackSizeMb: STACK_MB, maxOldGenerationSizeMb: HEAP_MB },
    });
    worker.on('message', (answer: object) => this.#answered?.(answer));
    worker.on('error', (error: NodeJS.ErrnoException) =>
      this.#close(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'it takes too much memory' : error.message),
    );
    worker.on('messageerror', () => this.#close('what it says cannot be read'));
    worker.on('exit', () => this.#close('its thread has ended'));
    // The thread keeps no process alive; while an answer is awaited, the timer does.
    worker.unref();
    this.#worker = worker;
  }

  async ask<T>(request: object, held_ms: number): Promise<T | Held> {
    if (this.#over !== null) return this.#over;
    const stop = afterWork(this.#worker, held_ms, () => {
      this.#close(`it holds its thread for more than ${held_ms / 1000} s`);
    });
    try {
      return await new Promise<T | Held>((resolve) => {
        this.#answered = (answer) => resolve(answer as T);
        this.#worker.postMessage(request);
      });
    } finally {
      this.#answered = null;
      stop();
    }
  }

  async end(): Promise<void> {
    this.#close('the run was let go');
    await this.#worker.terminate();
  }

  #close(held: string): void {
    this.#over ??= { held };
    this.#answered?.(this.#over);
  }
}
