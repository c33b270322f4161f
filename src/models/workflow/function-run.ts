import { setImmediate } from 'node:timers/promises';
import { makeCombinators } from './globals/script-combinators.ts';
import { installGlobals } from './globals/script-globals.ts';
import { makeOtherCalls } from './globals/script-other-calls.ts';
import type { WorkflowFunction, WorkflowGlobals } from './globals/workflow-function.ts';
import { ScriptRecord } from './script-record.ts';
import type { ScriptRun } from './script-run.ts';
import { type RecordedCall, SCRIPT_LIMITS, type ScriptEntry, type ScriptSetup } from './script-step.ts';

/**
 * A function of the program in the place of a script: the same globals and the same law of replay, without an interpreter around it. It may also await what is not ours;
 * what it asks for after that is seen with the next result, or at once if it waits for none.
 */
export class FunctionRun implements ScriptRun {
  readonly meta = { name: 'function', description: '', when_to_use: null, phases: [] };
  readonly #record = new ScriptRecord(null);
  readonly #face: ReturnType<typeof installGlobals>;
  readonly #run: () => Promise<unknown>;
  #begun = false;
  #disposed = false;
  #wake = () => {};

  constructor(run: WorkflowFunction, setup: Omit<ScriptSetup, 'source'>) {
    const { args, budget = { total: null, spent: 0 }, nested = false, limits = {} } = setup;
    const agents_max = { ...SCRIPT_LIMITS, ...limits }.agents;
    const text = JSON.stringify({
      ...(args === undefined ? {} : { args: JSON.stringify(args) }),
      ...{ seed: [], budget, agents_max, nested },
    });
    let globals = {};
    const provide = (ours: object) => {
      globals = Object.fromEntries(Object.entries(ours).map(([name, value]) => [name, this.#waking(value)]));
    };
    this.#face = installGlobals(text, makeCombinators, makeOtherCalls, provide, () => {});
    this.#run = async () => {
      try {
        return await run(globals as WorkflowGlobals);
      } finally {
        this.#wake();
      }
    };
  }

  /** The global, which wakes a step that waits for the function to ask for something. */
  #waking(value: unknown): unknown {
    if (typeof value !== 'function') return value;
    return new Proxy(value, {
      apply: (target, self, given) => {
        this.#wake();
        return Reflect.apply(target, self, given);
      },
    });
  }

  async feed(entries: readonly ScriptEntry[], recorded: readonly RecordedCall[] = []) {
    const record = this.#record;
    if (!this.#begun) {
      this.#begun = true;
      record.recorded = recorded;
      this.#face.begin(this.#run);
      await this.#rest();
    }
    for (const entry of entries) {
      if (!record.accepts(entry)) break;
      this.#face.deliver(JSON.stringify(entry));
      await this.#rest();
    }
    record.closeReplay();
    return { events: record.takeEvents(), state: record.state };
  }

  /** Until the function waits for results or has ended. */
  async #rest(): Promise<void> {
    for (;;) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      // Everything that the function does without waiting happens before.
      await setImmediate();
      for (let text = this.#face.take(); text !== undefined && this.#record.end === null; ) {
        this.#record.take(text);
        text = this.#face.take();
      }
      if (this.#record.state.type !== 'stuck' || this.#disposed) return;
      await woken;
    }
  }

  async dispose(): Promise<void> {
    this.#disposed = true;
    this.#wake();
  }
}
