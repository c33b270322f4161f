import type { SubagentCallbacks } from './subagent-callbacks.ts';

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
