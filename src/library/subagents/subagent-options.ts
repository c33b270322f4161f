import type { ToolCallRequest, ToolCallResult } from '../tool-definition.ts';

export interface SubagentInfo {
  /** Uuid of the agent, also in the ledger. */
  readonly id: string;
  /** Label given by its creator. */
  readonly description: string;
  readonly mode: 'spawn' | 'delegate';
}

export interface SubagentResult {
  readonly text: string;
  /** The limit that ended it, if one did; `text` is then what it had so far. */
  readonly limit?: string;
  /** Number of answers of its model. */
  readonly turns: number;
  readonly durationMs: number;
}

/**
 * Called for all sub-agents, including nested ones. For each id, in order: one start; text and calls as they come; then exactly one of
 * `onSubagentComplete` and `onSubagentError`, and nothing after it. A sub-agent that still works when the coppice closes gets an error with
 * the code `E_CLOSED`; when its tree is resumed, it starts again. A callback that throws or rejects only causes a process warning
 * (`COPPICE_CALLBACK`).
 */
export interface SubagentCallbacks {
  readonly onSubagentStart?: (info: SubagentInfo) => unknown;
  /** Live text. After a broken stream it is repeated from the start. */
  readonly onSubagentStreamDelta?: (id: string, text: string) => unknown;
  /** The call starts to run. `arguments` is empty if the model wrote no JSON object. */
  readonly onSubagentToolCallStart?: (id: string, call: ToolCallRequest) => unknown;
  readonly onSubagentToolCallEnd?: (id: string, result: ToolCallResult) => unknown;
  readonly onSubagentComplete?: (id: string, result: SubagentResult) => unknown;
  /** `error.cause` is the failure as the ledger has it: `kind`, `error`, `retryable`. */
  readonly onSubagentError?: (id: string, error: Error) => unknown;
}

/** Defaults of `defaultMaxTurns` and `maxDepth`. */
export const MAX_TURNS = 10;
export const MAX_DEPTH = 2;

/** Options of `registerSubagentTools`. */
export interface SubagentToolsOptions {
  readonly callbacks?: SubagentCallbacks;
  /** Maximum turns of a sub-agent whose call gives none. Default: 10. */
  readonly defaultMaxTurns?: number;
  /** Maximum nesting; sub-agents at the limit do not see the tools. Default: 2; 0 registers nothing. */
  readonly maxDepth?: number;
  /** ACP server for calls of `subagent_delegate` that name none. */
  readonly serverName?: string;
  /** Agent of that server. */
  readonly agentId?: string;
  /** System prompt of sub-agents whose call gives none. Default: that of their creator. */
  readonly systemPrompt?: string;
}

/** The checked options, with defaults filled in. */
export interface SubagentTerms {
  readonly callbacks: SubagentCallbacks;
  readonly max_turns: number;
  readonly max_depth: number;
  readonly server: string | null;
  readonly agent: string | null;
  readonly system: string | null;
}
