import type { DeepReadonly } from '../../records/deep-readonly.ts';

/** Kinds of calls that a script makes; each gets one result. */
export const CALL_KINDS = ['agent', 'workflow', 'ask', 'sleep', 'until', 'notify'] as const;
export type CallKind = (typeof CALL_KINDS)[number];

/** Characters of what a script says that one message holds; the rest is cut off. */
export const SAID_MAX = 1_000_000;

/** Something that a script asks for. */
export interface ScriptCall {
  readonly type: 'call';
  /** Its place among all calls of the run, from 1. */
  readonly number: number;
  readonly kind: CallKind;
  /** The prompt of an agent, a question, a message, the name or path of a workflow; empty for times. */
  readonly prompt: string;
  /** Options that the script gave, without `label` and `phase`; `seconds` of a sleep, `at` of `until`, `args` of a workflow. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly phase: string | null;
  readonly label: string | null;
  /** What is asked for, as a hash of kind, prompt and options, with its occurrence among equals after a colon. */
  readonly key: string;
  /** The line of the script that made the call. */
  readonly line: number | null;
}

/** What a script did, in order. `after`: how many results it had been given. */
export type ScriptEvent = { readonly after: number } & (
  | ScriptCall
  | { readonly type: 'log'; readonly text: string }
  | { readonly type: 'phase'; readonly title: string }
  /** Something that the author should know and that does not stop the run. */
  | { readonly type: 'notice'; readonly text: string; readonly line: number | null }
  /** A timer that was cleared: no result is needed any more. */
  | { readonly type: 'cancel'; readonly number: number }
);

/** A recorded call, as far as a replay compares it. */
export type RecordedCall = Pick<ScriptCall, 'number' | 'kind' | 'key' | 'prompt'>;

/** The amounts that `budget` shows, in the unit of the run's budget; `total` is null without a budget. */
export interface ScriptBudget {
  readonly total: number | null;
  readonly spent: number;
}

/** A recorded result of a call. */
export type ScriptEntry = {
  readonly call: number;
  /** When it was recorded, in milliseconds since 1970: the script's clock from then on. */
  readonly now: number;
  readonly budget: ScriptBudget;
} & (
  | { readonly type: 'value'; readonly value: unknown }
  | { readonly type: 'failed' | 'skipped'; readonly reason: string }
);

export interface ScriptFailure {
  /** `diverged`: a replay asked for something else than was recorded. */
  readonly kind: 'threw' | 'limit' | 'diverged' | 'not_json';
  readonly message: string;
  readonly line: number | null;
  /** Lines of the author's file, innermost first. */
  readonly stack: readonly string[];
}

export type ScriptState =
  /** `pending`: calls without a result. */
  | { readonly type: 'waiting'; readonly pending: readonly number[] }
  /** The result as JSON text; `null` for a script that returned nothing. */
  | { readonly type: 'done'; readonly result: string }
  | { readonly type: 'failed'; readonly failure: ScriptFailure }
  /** The script awaits a promise that nothing will resolve. */
  | { readonly type: 'stuck' };

export interface ScriptStep {
  readonly events: readonly ScriptEvent[];
  readonly state: ScriptState;
}

/** Bounds of a run. Steps are counted in the interpreter, so a replay ends at the same place. */
export interface ScriptLimits {
  /** Maximum `agent()` calls of a run. */
  readonly agents: number;
  readonly memory_mb: number;
  /** Maximum steps (calls of functions and turns of loops) between two results. */
  readonly steps: number;
  /** Maximum CPU time of the same: what a machine eight times slower than usual needs for so many steps of a plain loop. */
  readonly work_ms: number;
  /** A built-in function that holds the thread for longer ends the run: steps are not counted within one. */
  readonly held_ms: number;
}

export const SCRIPT_LIMITS: ScriptLimits = {
  agents: 1_000,
  memory_mb: 256,
  steps: 50_000_000,
  work_ms: 5_000,
  held_ms: 10_000,
};

export interface ScriptSetup {
  readonly source: string;
  /** A JSON value; `undefined` if none was given. */
  readonly args?: unknown;
  /** Where `Math.random()` starts. */
  readonly seed: string;
  /** The script's clock at its first line, in milliseconds since 1970. */
  readonly started_at: number;
  readonly budget?: ScriptBudget;
  /** A workflow within a workflow, which starts no third one. */
  readonly nested?: boolean;
  readonly limits?: Partial<ScriptLimits>;
}

/** What the thread of a script is sent. */
export type ScriptRequest = DeepReadonly<{
  entries: ScriptEntry[];
  recorded: RecordedCall[] | null;
  last: boolean;
}>;

/** A compiled `WebAssembly.Module`, by no name of a library of types that programs may not have. */
export type CompiledWasm = object;
