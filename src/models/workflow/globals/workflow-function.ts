/** A workflow as a function of a program: the globals of scripts (docs/workflows.md#the-format) as TypeScript sees them. */

type JsonObject = Readonly<Record<string, unknown>>;

export interface WorkflowAgentOptions {
  readonly label?: string;
  readonly phase?: string;
  /** JSON Schema of the result, an object. */
  readonly schema?: JsonObject;
  readonly model?: string;
  readonly effort?: string;
  /** Name of a profile. */
  readonly agentType?: string;
  readonly isolation?: 'worktree';
  readonly context?: 'fork';
  /** Label of an agent that has finished. */
  readonly continue?: string;
  /** A number is tokens. */
  readonly budget?: number | { readonly tokens?: number; readonly usd?: number; readonly seconds?: number };
  readonly onFailure?: 'throw';
}

export interface WorkflowAgentFailure {
  readonly label: string | null;
  readonly phase: string | null;
  readonly reason: string;
  readonly skipped: boolean;
}

/** Null for an agent that failed for good or was skipped, unless `onFailure` is given. The type of a checked result is the caller's word. */
export interface WorkflowAgentCall {
  <Checked>(
    prompt: string,
    options: WorkflowAgentOptions & { readonly schema: JsonObject; readonly onFailure: 'throw' },
  ): Promise<Checked>;
  <Checked>(
    prompt: string,
    options: WorkflowAgentOptions & { readonly schema: JsonObject },
  ): Promise<Checked | null>;
  (prompt: string, options: WorkflowAgentOptions & { readonly onFailure: 'throw' }): Promise<string>;
  (prompt: string, options?: WorkflowAgentOptions): Promise<string | null>;
  failures(): WorkflowAgentFailure[];
}

/** Each stage gets what the one before gave, the item and its index. An item whose stage throws is null. */
export interface WorkflowPipeline {
  <Item, A>(
    items: readonly Item[],
    first: (item: Item, same: Item, index: number) => A,
  ): Promise<(Awaited<A> | null)[]>;
  <Item, A, B>(
    items: readonly Item[],
    first: (item: Item, same: Item, index: number) => A,
    second: (previous: Awaited<A>, item: Item, index: number) => B,
  ): Promise<(Awaited<B> | null)[]>;
  <Item, A, B, C>(
    items: readonly Item[],
    first: (item: Item, same: Item, index: number) => A,
    second: (previous: Awaited<A>, item: Item, index: number) => B,
    third: (previous: Awaited<B>, item: Item, index: number) => C,
  ): Promise<(Awaited<C> | null)[]>;
}

export interface WorkflowGlobals<Args = unknown> {
  readonly agent: WorkflowAgentCall;
  /** One that throws is null. */
  readonly parallel: <Thunks extends readonly (() => unknown)[]>(
    thunks: Thunks,
  ) => Promise<{ -readonly [At in keyof Thunks]: Awaited<ReturnType<Thunks[At]>> | null }>;
  readonly pipeline: WorkflowPipeline;
  readonly phase: (title: string) => void;
  readonly log: (...values: unknown[]) => void;
  /** A copy, as JSON. */
  readonly args: Args;
  readonly budget: { readonly total: number | null; spent(): number; remaining(): number };
  /** With `schema`, an object; otherwise the text. */
  readonly ask: {
    (question: string, options: { readonly schema: JsonObject }): Promise<Record<string, unknown>>;
    (question: string, options?: { readonly choices?: readonly string[] }): Promise<string>;
  };
  readonly sleep: (seconds: number) => Promise<void>;
  readonly until: (instant: Date | string | number) => Promise<void>;
  readonly notify: (text: string) => Promise<void>;
  readonly workflow: <Value = unknown>(
    which: string | { readonly scriptPath: string },
    args?: unknown,
  ) => Promise<Value>;
}

/**
 * Runs in the program itself, and again from its first line after a restart: it must ask for the same calls in the same order, so between them it awaits nothing but
 * these functions, and takes clocks and chance from its arguments.
 */
export type WorkflowFunction<Args = unknown, Value = unknown> = (
  globals: WorkflowGlobals<Args>,
) => Promise<Value> | Value;
