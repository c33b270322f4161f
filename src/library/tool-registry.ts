import type { Tool } from '../records/tool.ts';
import type { ToolCallRequest, ToolCallResult } from './tool-call.ts';
import type { ToolDefinition, ToolHandler } from './tool-definition.ts';

/** The tools of one program: for its agents (`openCoppice({ registry })`), and to be called by the program itself. */
export interface ToolRegistry {
  /** Throws a TypeError for a definition that no provider would take, and a `CoppiceError` (`E_INVALID_ARGUMENT`) for a name that is taken. */
  register(definition: ToolDefinition, handler: ToolHandler): void;
  /** A tool made with `defineTool`. */
  registerTool(tool: Tool): void;
  /** In the order of their registration. */
  getToolDefinitions(): readonly ToolDefinition[];
  has(name: string): boolean;
  /** Runs one call, as the program and without any permission check. Never rejects: what goes wrong is a result with `isError`. */
  execute(call: ToolCallRequest): Promise<ToolCallResult>;
}
