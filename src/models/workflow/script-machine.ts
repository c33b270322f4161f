import { createHash } from 'node:crypto';
import * as loader from '@jitl/quickjs-ng-wasmfile-release-sync/emscripten-module';
import { QuickJSFFI } from '@jitl/quickjs-ng-wasmfile-release-sync/ffi';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
} from 'quickjs-emscripten-core';
import { cutText } from '../../records/text/cut-text.ts';
import { changeBuiltInObjects } from './script-built-ins.ts';
import { makeCombinators } from './script-combinators.ts';
import { type AskedCall, authorLines, readEvent } from './script-events.ts';
import { type GlobalsSetup, installGlobals } from './script-globals.ts';
import { makeOtherCalls } from './script-other-calls.ts';
import { SCRIPT_FILE } from './script-source.ts';
import type {
  CompiledWasm,
  RecordedCall,
  ScriptCall,
  ScriptEntry,
  ScriptEvent,
  ScriptFailure,
  ScriptLimits,
  ScriptState,
} from './script-step.ts';

/** Maximum of what a script may ask for and say at once, and of its result. */
const EVENTS_MAX = 20_100;
const CHARACTERS_MAX = 32_000_000;
const CALLS_MAX = 20_000;
const STACK_BYTES = 512 * 1024;
/** The interpreter asks for leave once in so many steps. */
const STEPS_BETWEEN_ASKING = 10_000;
/** Starting a job of the queue takes about as long as this many steps. */
const STEPS_OF_JOB = 100;
const JOBS_AT_ONCE = 1_000;
const TEXT_SHOWN = 500;

export interface MachineSetup {
  /** The interpreter, compiled. */
  readonly wasm: CompiledWasm;
  /** As `compileScript` makes it. */
  readonly program: string;
  readonly globals: GlobalsSetup;
  readonly limits: ScriptLimits;
  /** Sets the only clock that the interpreter sees. */
  readonly setClock: (now: number) => void;
  readonly started_at: number;
}

/** One script in an interpreter of its own. Nothing of the host is inside; text goes in and comes out. */
export class ScriptMachine {
  readonly #setup: MachineSetup;
  readonly #runtime: QuickJSRuntime;
  readonly #context: QuickJSContext;
  readonly #asked: ScriptCall[] = [];
  /** Calls without a result; those that were cleared may get one. */
  readonly #open = new Set<number>();
  readonly #cleared = new Set<number>();
  readonly #occurrences = new Map<string, number>();
  #face: { readonly deliver: QuickJSHandle; readonly take: QuickJSHandle } | null = null;
  #recorded: readonly RecordedCall[] = [];
  #events: ScriptEvent[] = [];
  #end: Exclude<ScriptState, { type: 'waiting' }> | null = null;
  #fed = 0;
  #now: number;
  #steps = 0;

  static async open(setup: MachineSetup): Promise<ScriptMachine> {
    const base = {
      type: 'sync' as const,
      importFFI: async () => QuickJSFFI,
      importModuleLoader: async () => loader.default,
    };
    const module = await newQuickJSWASMModuleFromVariant(
      newVariant(base, { wasmModule: setup.wasm as never }),
    );
    return new ScriptMachine(setup, module.newRuntime());
  }

  private constructor(setup: MachineSetup, runtime: QuickJSRuntime) {
    this.#setup = setup;
    this.#now = setup.started_at;
    setup.setClock(this.#now);
    runtime.setMemoryLimit(setup.limits.memory_mb * 1024 * 1024);
    runtime.setMaxStackSize(STACK_BYTES);
    runtime.setInterruptHandler(() => this.#tired(STEPS_BETWEEN_ASKING));
    this.#runtime = runtime;
    this.#context = runtime.newContext();
  }

  /** Starts the script. Each call that is recorded must be asked for, in the same place. */
  begin(recorded: readonly RecordedCall[]): void {
    this.#recorded = recorded;
    this.#guarded(() => {
      const text = JSON.stringify(JSON.stringify(this.#setup.globals));
      const face = this.#run(
        `(${installGlobals})(${text}, ${makeCombinators}, ${makeOtherCalls}, ${changeBuiltInObjects})`,
        'globals',
      );
      const script = face === null ? null : this.#run(this.#setup.program, SCRIPT_FILE);
      if (face === null || script === null) return;
      this.#face = {
        deliver: this.#context.getProp(face, 'deliver'),
        take: this.#context.getProp(face, 'take'),
      };
      this.#call(this.#context.getProp(face, 'begin'), script);
    });
  }

  /** Gives the script one result and lets it go on as far as it can. After its end, nothing changes. */
  feed(entry: ScriptEntry): void {
    if (this.#end !== null) return;
    const { call } = entry;
    if (this.#cleared.delete(call) || this.#open.delete(call)) {
      this.#fed++;
      this.#now = Math.max(this.#now, entry.now);
      this.#setup.setClock(this.#now);
      this.#guarded(() => {
        const text = this.#context.newString(JSON.stringify(entry));
        if (this.#face !== null) this.#call(this.#face.deliver, text);
        text.dispose();
      });
    } else {
      const known = call <= this.#asked.length ? 'has had its result' : 'the script has not made';
      this.#fail('diverged', `a result was recorded for call ${call}, which ${known}`);
    }
  }

  /** The end of a replay: all that was recorded has been asked for. */
  closeReplay(): void {
    const missing = this.#recorded[this.#asked.length];
    if (missing !== undefined && this.#end?.type !== 'failed')
      this.#fail(
        'diverged',
        `call ${missing.number} is recorded as ${told(missing)}, and the script no longer makes it`,
      );
  }

  /** What happened since this was last asked. */
  takeEvents(): readonly ScriptEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  get state(): ScriptState {
    if (this.#end !== null) return this.#end;
    return this.#open.size === 0 ? { type: 'stuck' } : { type: 'waiting', pending: [...this.#open] };
  }

  /** Whether the steps up to here are more than may be made at once; they count from the last result. */
  #tired(steps: number): boolean {
    this.#steps += steps;
    return this.#steps > this.#setup.limits.steps;
  }

  /** Runs the script's code, and what it left to do; reports what ends it. */
  #guarded(enter: () => void): void {
    this.#steps = 0;
    try {
      enter();
      while (this.#end === null && this.#runtime.hasPendingJob()) {
        const result = this.#runtime.executePendingJobs(JOBS_AT_ONCE);
        if (result.error) this.#report(result.error);
        else if (this.#tired(result.value * STEPS_OF_JOB)) this.#fail('limit', this.#tooManySteps());
      }
      if (this.#end === null) this.#takeAll();
    } catch (error) {
      // The interpreter itself could not go on: it found no memory or no stack for its own work.
      this.#fail('limit', `the interpreter cannot go on: ${error instanceof Error ? error.message : error}`);
    }
  }

  #run(code: string, file: string): QuickJSHandle | null {
    const result = this.#context.evalCode(code, file);
    if (result.error === undefined) return result.value;
    this.#report(result.error);
    return null;
  }

  #call(what: QuickJSHandle, ...given: readonly QuickJSHandle[]): string | undefined {
    const result = this.#context.callFunction(what, this.#context.undefined, ...given);
    if (result.error) {
      this.#report(result.error);
      return undefined;
    }
    const value = result.value;
    const text = this.#context.typeof(value) === 'string' ? this.#context.getString(value) : undefined;
    value.dispose();
    return text;
  }

  #report(error: QuickJSHandle): void {
    const thrown: unknown = this.#context.dump(error);
    error.dispose();
    const { message = String(thrown), stack = null } =
      typeof thrown === 'object' && thrown !== null ? (thrown as { message?: string; stack?: string }) : {};
    if (this.#steps > this.#setup.limits.steps) this.#fail('limit', this.#tooManySteps(), stack);
    else this.#threw('threw', String(message), stack);
  }

  #tooManySteps(): string {
    return `it makes more than ${this.#setup.limits.steps.toLocaleString('en-US')} steps without waiting for a result: an endless loop?`;
  }

  #threw(kind: ScriptFailure['kind'], message: string, stack: unknown): void {
    const { memory_mb } = this.#setup.limits;
    if (/\bout of memory$/.test(message))
      this.#fail('limit', `it needs more than ${memory_mb} MB of memory`, stack);
    else this.#fail(kind, message, stack);
  }

  #fail(kind: ScriptFailure['kind'], message: string, stack: unknown = null, at: number | null = null): void {
    const lines = authorLines(stack);
    const line = at ?? (Number(/:(\d+)/.exec(lines[0] ?? '')?.[1]) || null);
    this.#end = { type: 'failed', failure: { kind, message, line, stack: lines } };
  }

  #takeAll(): void {
    let characters = 0;
    for (let count = 0; this.#face !== null; count++) {
      const text = this.#call(this.#face.take);
      if (text === undefined) return;
      characters += text.length;
      if (count >= EVENTS_MAX || characters > CHARACTERS_MAX) {
        const what = count >= EVENTS_MAX ? `${EVENTS_MAX} calls and lines` : `${CHARACTERS_MAX} characters`;
        this.#fail('limit', `it asks for, says or returns more than ${what} at once`);
      } else this.#take(text);
      if (this.#end !== null) return;
    }
  }

  #take(text: string): void {
    const event = readEvent(text, this.#asked.length + 1, this.#fed);
    if (event === null)
      return this.#fail('threw', 'it has changed built-in objects in a way that leaves its calls unreadable');
    switch (event.type) {
      case 'call':
        return this.#ask(event);
      case 'done':
        if (this.#open.size > 0) {
          const words = `the script has returned, and does not wait for ${this.#open.size} of its calls`;
          this.#events.push({ type: 'notice', text: words, line: null, after: this.#fed });
        }
        this.#end = event;
        return;
      case 'failed':
        return this.#threw(event.kind, event.message, event.stack);
      case 'cancel':
        if (!this.#open.delete(event.number)) return;
        this.#cleared.add(event.number);
    }
    this.#events.push(event);
  }

  #ask(asked: AskedCall): void {
    const { number, kind, prompt, options, line } = asked;
    if (number > CALLS_MAX) return this.#fail('limit', `it makes more than ${CALLS_MAX} calls`, null, line);
    const hash = createHash('sha256')
      .update(JSON.stringify([kind, prompt, options]))
      .digest('hex');
    const occurrence = (this.#occurrences.get(hash) ?? 0) + 1;
    this.#occurrences.set(hash, occurrence);
    const call = { ...asked, key: `${hash}:${occurrence}` };
    const recorded = this.#recorded[number - 1];
    if (recorded !== undefined && recorded.key !== call.key) {
      const why = `call ${number} is recorded as ${told(recorded)}, and the script now asks for ${told(call)}`;
      return this.#fail('diverged', why, null, line);
    }
    this.#asked.push(call);
    this.#open.add(number);
    this.#events.push(call);
  }
}

/** A call in an error: its kind, its text, and the beginning of its key, by which calls with the same text differ. */
function told({ kind, prompt, key }: Pick<RecordedCall, 'kind' | 'prompt' | 'key'>): string {
  return `${kind} ${JSON.stringify(cutText(prompt, TEXT_SHOWN, '…'))} (${key.slice(0, 8)}${key.slice(key.indexOf(':'))})`;
}
