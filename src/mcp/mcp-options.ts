import type { ToolsetTerms } from '../kernel/toolsets/toolset-terms.ts';
import type { AgentConfig } from '../records/agent/agent.ts';
import type { Limits } from '../records/agent/limits.ts';
import type { RuntimeFace } from '../runtime/runtime-face.ts';
import type { Store } from '../store/store.ts';

/** What a client may say of a tree that it starts. */
export interface WantedRoot {
  readonly model?: string | undefined;
  readonly profile?: string | undefined;
  readonly cwd?: string | undefined;
  readonly limits?: Partial<Limits> | undefined;
}

export interface ComposedRoot {
  readonly config: AgentConfig;
  readonly limits: Partial<Limits>;
  /** Labels that a worker needs to take the tree over. */
  readonly placement: readonly string[];
}

/** What Coppice offers to programs outside, over MCP (docs/mcp-server.md). */
export interface McpOptions {
  readonly version: string;
  readonly store: Store;
  readonly runtime: RuntimeFace;
  /** By the configuration of this process. Rejects with a `CoppiceError`, such as `E_NO_KEY`. */
  readonly compose: (wanted: WantedRoot) => Promise<ComposedRoot>;
  /** Which models and profiles agents may name. */
  readonly terms: Pick<ToolsetTerms, 'profiles' | 'subagents'>;
  /** The folder of agents that name none. */
  readonly cwd: string;
  /** A client that comes again under its name is the same agent; otherwise only while that one has work or mail left. */
  readonly lasting: boolean;
  /** Longest time that a call waits, milliseconds: many clients give up after a minute. */
  readonly wait_ms: number;
  /** Something was entered in the ledger that may need a leader. */
  readonly onEntered: () => void;
}
