import * as loader from '@jitl/quickjs-ng-wasmfile-release-sync/emscripten-module';
import { QuickJSFFI } from '@jitl/quickjs-ng-wasmfile-release-sync/ffi';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
} from 'quickjs-emscripten-core';
import { provideGlobals } from './globals/script-built-ins.ts';
import { makeCombinators } from './globals/script-combinators.ts';
import { type GlobalsSetup, installGlobals } from './globals/script-globals.ts';
import { makeOtherCalls } from './globals/script-other-calls.ts';
import { authorLines } from './script-events.ts';
import { ScriptRecord } from './script-record.ts';
import { lineOfLoop, SCRIPT_FILE } from './script-source.ts';
import type { CompiledWasm, RecordedCall, ScriptEntry, ScriptLimits } from './script-step.ts';

/** Maximum of what a script may ask for and say at once, and of its result. */
const EVENTS_MAX = 20_100;
const CHARACTERS_MAX = 32_000_000;
const STACK_BYTES = 512 * 1024;
/** The interpreter asks for leave once in so many steps. */
const STEPS_BETWEEN_ASKING = 10_000;
/** Starting a job of the queue takes about as long as this many steps. */
const STEPS_OF_JOB = 100;
const JOBS_AT_ONCE = 1_000;
/** How often it is looked where a script is that has done too much, and how many times `JOBS_AT_ONCE` it gets for that. */
const LOOKS_MAX = 24;
const CHANCES = 300;

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
  /** What the script has asked for and done. */
  readonly record: ScriptRecord;
  #face: Readonly<Record<'deliver' | 'take' | 'here', QuickJSHandle>> | null = null;
  /** Since the last result: steps, where the CPU time began, and why they are too many. */
  #steps = 0;
  #since_ms = 0;
  #over: string | null = null;
  /** How often it was looked where it is since, and its stack there. */
  #looks = 0;
  #where: string | null = null;

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
    this.record = new ScriptRecord(setup.limits.memory_mb, {
      program: setup.program,
      has_args: setup.globals.args !== undefined,
    });
    setup.setClock(setup.started_at);
    runtime.setMemoryLimit(setup.limits.memory_mb * 1024 * 1024);
    runtime.setMaxStackSize(STACK_BYTES);
    runtime.setInterruptHandler(() => this.#tired(STEPS_BETWEEN_ASKING) && this.#isInScript());
    this.#runtime = runtime;
    this.#context = runtime.newContext();
  }

  /** Starts the script. Each call that is recorded must be asked for, in the same place. */
  begin(recorded: readonly RecordedCall[]): void {
    this.record.recorded = recorded;
    this.#guarded(() => {
      const text = JSON.stringify(JSON.stringify(this.#setup.globals));
      const face = this.#run(
        `(${installGlobals})(${text}, ${makeCombinators}, ${makeOtherCalls}, ${provideGlobals}, () => { for (;;); })`,
        'globals',
      );
      const script = face === null ? null : this.#run(this.#setup.program, SCRIPT_FILE);
      if (face === null || script === null) return;
      this.#face = {
        deliver: this.#context.getProp(face, 'deliver'),
        take: this.#context.getProp(face, 'take'),
        here: this.#context.getProp(face, 'here'),
      };
      this.#call(this.#context.getProp(face, 'begin'), script);
    });
  }

  /** Gives the script one result and lets it go on as far as it can. After its end, nothing changes. */
  feed(entry: ScriptEntry): void {
    if (!this.record.accepts(entry)) return;
    this.#setup.setClock(entry.now);
    this.#guarded(() => {
      const text = this.#context.newString(JSON.stringify(entry));
      if (this.#face !== null) this.#call(this.#face.deliver, text);
      text.dispose();
    });
  }

  #rest(): void {
    this.#steps = 0;
    this.#since_ms = cpuMs();
    [this.#over, this.#looks, this.#where] = [null, 0, null];
  }

  /** Whether what was done up to here is more than may be done at once. Steps alone do not bound it: an error that is caught takes as long as a hundred. */
  #tired(steps: number): boolean {
    this.#steps += steps;
    const { steps: most, work_ms } = this.#setup.limits;
    const over = (what: string) => `it ${what} without waiting for a result: an endless loop?`;
    if (this.#steps > most) this.#over ??= over(`makes more than ${most.toLocaleString('en-US')} steps`);
    else if (cpuMs() - this.#since_ms > work_ms)
      this.#over ??= over(`works for more than ${work_ms / 1000} s`);
    return this.#over !== null;
  }

  /**
   * Whether the place where a script that has done too much would be ended is one of its lines: while a job of the queue is taken up, it is none. The interpreter asks at
   * regular distances, so a look moves the next one on.
   */
  #isInScript(): boolean {
    // While it looks, it is asked again only by what the script has made of errors.
    if (this.#face === null || this.#looks < 0 || this.#looks === LOOKS_MAX) return true;
    const looks = this.#looks;
    this.#looks = -1;
    // So that those of each length of a loop have their turn.
    const steps = this.#context.newNumber(Math.floor(looks / 6));
    const result = this.#context.callFunction(this.#face.here, this.#context.undefined, steps);
    const found = result.error ?? result.value;
    const stack: unknown = result.error ? null : this.#context.dump(found);
    found.dispose();
    this.#looks = looks + 1;
    if (authorLines(stack).length === 0) return false;
    this.#where = stack as string;
    return true;
  }

  /** Runs the script's code, and what it left to do; reports what ends it. */
  #guarded(enter: () => void): void {
    this.#rest();
    try {
      enter();
      let chances = CHANCES;
      while (this.record.end === null && this.#runtime.hasPendingJob()) {
        const result = this.#runtime.executePendingJobs(JOBS_AT_ONCE);
        if (result.error) this.#report(result.error);
        // It is ended within one of the next jobs, whose line is known.
        else if (this.#tired(result.value * STEPS_OF_JOB) && chances-- === 0) break;
      }
      // Its end is the limit, whatever an asynchronous generator has made of that.
      if (this.record.end === null && this.#over !== null) this.#failOver(this.#over, this.#where);
      if (this.record.end === null) this.#takeAll();
    } catch (error) {
      // The interpreter itself could not go on: it found no memory or no stack for its own work.
      this.record.fail(
        'limit',
        `the interpreter cannot go on: ${error instanceof Error ? error.message : error}`,
      );
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
    const over = this.#over;
    if (over !== null) {
      const known = authorLines(stack).length > 0 ? stack : this.#where;
      this.#rest();
      // What it did until then, and why the globals ended it if they did.
      this.#takeAll();
      if (this.record.end === null) this.#failOver(over, known);
    } else this.record.threw('threw', String(message), stack);
  }

  #failOver(over: string, stack: string | null): void {
    this.record.fail('limit', over, stack, lineOfLoop(this.#setup.program, authorLines(stack)[0] ?? ''));
  }

  #takeAll(): void {
    let characters = 0;
    for (let count = 0; this.#face !== null; count++) {
      const text = this.#call(this.#face.take);
      if (text === undefined) return;
      characters += text.length;
      if (count >= EVENTS_MAX || characters > CHARACTERS_MAX) {
        const what = count >= EVENTS_MAX ? `${EVENTS_MAX} calls and lines` : `${CHARACTERS_MAX} characters`;
        this.record.fail('limit', `it asks for, says or returns more than ${what} at once`);
      } else this.record.take(text);
      if (this.record.end !== null) return;
    }
  }
}

/** CPU time of this thread, in milliseconds. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
