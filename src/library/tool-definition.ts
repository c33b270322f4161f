import type { ErrorCode } from '../records/coppice-error.ts';
import type { Tool, ToolContext } from '../records/tool.ts';

/** Purpose of a tool, for people and programs; models do not see it. */
export type ToolCategory =
  | 'read'
  | 'edit'
  | 'search'
  | 'execute'
  | 'memory'
  | 'vfs'
  | 'task'
  | 'subagent'
  | 'other';

/** One parameter. Further keywords of JSON Schema (`enum`, `items`, `minimum`…) are passed on. */
export interface ToolParameter {
  readonly type: 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object';
  readonly description?: string;
  /** Default: false. */
  readonly required?: boolean;
  readonly [keyword: string]: unknown;
}

export type ToolParameters = Readonly<Record<string, ToolParameter>>;

type Value<Schema> = Schema extends { readonly enum: readonly (infer One)[] }
  ? One
  : Schema extends { readonly type: 'array' }
    ? readonly Value<Schema extends { readonly items: infer Items } ? Items : unknown>[]
    : Schema extends { readonly type: keyof Values }
      ? Values[Schema['type']]
      : unknown;

interface Values {
  string: string;
  number: number;
  integer: number;
  boolean: boolean;
  object: Readonly<Record<string, unknown>>;
}

type Required<Parameters> = {
  [Name in keyof Parameters]: Parameters[Name] extends { readonly required: true } ? Name : never;
}[keyof Parameters];

/** What a handler gets: the fields of the schema, with their types. */
export type ToolArguments<Parameters extends ToolParameters> = string extends keyof Parameters
  ? Readonly<Record<string, unknown>>
  : { readonly [Name in Required<Parameters>]: Value<Parameters[Name]> } & {
      readonly [Name in Exclude<keyof Parameters, Required<Parameters>>]?: Value<Parameters[Name]>;
    };

/** A tool as a registry accepts and returns it. */
export interface ToolDefinition<Parameters extends ToolParameters = ToolParameters> {
  /** Letters, digits, `_` and `-`; at most 64 characters. */
  readonly name: string;
  readonly description: string;
  readonly parameters: Parameters;
  /** Default: `other`. */
  readonly category?: ToolCategory;
}

/** Runs one call with validated arguments; resolves to its result or throws its error. `context.signal` aborts when the turn is stopped. */
export type ToolHandler<Parameters extends ToolParameters = ToolParameters> = (
  args: ToolArguments<Parameters>,
  context: ToolContext,
) => string | Promise<string>;

/** One call of a tool. */
export interface ToolCallRequest {
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface ToolCallResult {
  readonly id: string;
  readonly name: string;
  readonly output: string;
  readonly isError: boolean;
  /** Set with `isError`: what is wrong, as a code of `CoppiceError`. */
  readonly code?: ErrorCode;
}

/** The tools of one program, for its agents (`openCoppice({ registry })`) and for itself. */
export interface ToolRegistry {
  /** Throws a `CoppiceError` (`E_INVALID_ARGUMENT`) for a definition that no provider would accept, and for a name that is taken. */
  register<const Parameters extends ToolParameters>(
    definition: ToolDefinition<Parameters>,
    handler: ToolHandler<Parameters>,
  ): void;
  /** Registers a tool made with `defineTool`. */
  registerTool(tool: Tool): void;
  /** Returns the definitions in the order of registration. */
  getToolDefinitions(): readonly ToolDefinition[];
  has(name: string): boolean;
  /** Runs one call as the program, without permission checks. Never rejects: an error becomes a result with `isError`. */
  execute(call: ToolCallRequest): Promise<ToolCallResult>;
}
