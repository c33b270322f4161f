import type { ToolCallRequest, ToolCallResult } from './tool-definition.ts';

export interface SubagentInfo {
  /** Uuid of the agent: the ledger knows it by this too. */
  readonly id: string;
  /** What its creator said that it does. */
  readonly description: string;
  readonly mode: 'spawn' | 'delegate';
}

export interface SubagentResult {
  readonly text: string;
  /** The limit that ended it, when one did: the text is what it had by then. */
  readonly limit?: string;
  /** Answers of its model. */
  readonly turns: number;
  readonly durationMs: number;
}

/**
 * What a program hears of its sub-agents, nested ones included, each under its own id and in order: one start; then text and calls as
 * they come; then `onSubagentComplete` or `onSubagentError`, exactly one of them, and nothing after it. A sub-agent that is still at
 * work when the coppice closes gets an error with the code `E_CLOSED`; when its tree is resumed, it starts anew for the callbacks.
 * What a callback throws or rejects with becomes a warning of the process (`COPPICE_CALLBACK`) and disturbs nothing.
 */
export interface SubagentCallbacks {
  readonly onSubagentStart?: (info: SubagentInfo) => unknown;
  /** Live text. After a broken stream it comes again from the start. */
  readonly onSubagentStreamDelta?: (id: string, text: string) => unknown;
  /** The call begins to run. `arguments` is empty when the model wrote no JSON object. */
  readonly onSubagentToolCallStart?: (id: string, call: ToolCallRequest) => unknown;
  readonly onSubagentToolCallEnd?: (id: string, result: ToolCallResult) => unknown;
  readonly onSubagentComplete?: (id: string, result: SubagentResult) => unknown;
  /** `error.cause` is the failure as the ledger has it: `kind`, `error`, `retryable`. */
  readonly onSubagentError?: (id: string, error: Error) => unknown;
}

/** What `registerSubagentTools` takes. */
export interface SubagentToolsOptions {
  readonly callbacks?: SubagentCallbacks;
  /** Answers of a sub-agent that names no number. Default: 10. */
  readonly defaultMaxTurns?: number;
  /** How deep sub-agents may nest; those at the limit do not see the tools. Default: 2; 0 registers nothing. */
  readonly maxDepth?: number;
  /** ACP server that `subagent_delegate` asks when it names none. */
  readonly serverName?: string;
  /** Agent of that server. */
  readonly agentId?: string;
  /** System prompt of sub-agents that name none. Default: that of their creator. */
  readonly systemPrompt?: string;
}

/** The same, checked, with nothing left out. */
export interface SubagentTerms {
  readonly callbacks: SubagentCallbacks;
  readonly max_turns: number;
  readonly max_depth: number;
  readonly server: string | null;
  readonly agent: string | null;
  readonly system: string | null;
}
