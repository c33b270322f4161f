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

/** A tool as a registry accepts and returns it. */
export interface ToolDefinition {
  /** Letters, digits, `_` and `-`; at most 64 characters. */
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, ToolParameter>>;
  /** Default: `other`. */
  readonly category?: ToolCategory;
}

/** Runs one call with validated arguments; resolves to its result or throws its error. `context.signal` aborts when the turn is stopped. */
export type ToolHandler = (
  args: Readonly<Record<string, unknown>>,
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
}

/** The tools of one program, for its agents (`openCoppice({ registry })`) and for itself. */
export interface ToolRegistry {
  /** Throws a TypeError for a definition that no provider would accept, and a `CoppiceError` (`E_INVALID_ARGUMENT`) for a name that is taken. */
  register(definition: ToolDefinition, handler: ToolHandler): void;
  /** Registers a tool made with `defineTool`. */
  registerTool(tool: Tool): void;
  /** Returns the definitions in the order of registration. */
  getToolDefinitions(): readonly ToolDefinition[];
  has(name: string): boolean;
  /** Runs one call as the program, without permission checks. Never rejects: an error becomes a result with `isError`. */
  execute(call: ToolCallRequest): Promise<ToolCallResult>;
}
