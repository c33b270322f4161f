import type { ToolsetTerms } from '../kernel/toolsets/toolset-terms.ts';
import type { Limits } from '../records/agent/limits.ts';
import type { RuntimeFace } from '../runtime/runtime-face.ts';
import type { Store } from '../store/store.ts';
import type { Root } from '../trees/open-tree.ts';

/** Settings that a client may specify for a tree that it starts. */
export interface WantedRoot {
  readonly model?: string | undefined;
  readonly profile?: string | undefined;
  readonly cwd?: string | undefined;
  readonly limits?: Partial<Limits> | undefined;
}

export interface ComposedRoot extends Root {
  /** Labels that a worker needs to take the tree over. */
  readonly placement: readonly string[];
}

/** Options for serving external programs over MCP (docs/mcp-server.md). */
export interface McpOptions {
  readonly version: string;
  readonly store: Store;
  readonly runtime: RuntimeFace;
  /** Composes a root from the configuration of this process. Rejects with a `CoppiceError`, such as `E_NO_KEY`. */
  readonly compose: (wanted: WantedRoot) => Promise<ComposedRoot>;
  /** The models and profiles that agents may name. */
  readonly terms: Pick<ToolsetTerms, 'profiles' | 'subagents'>;
  /** The default folder of agents. */
  readonly cwd: string;
  /**
   * Whether a client that reconnects under its name is always the same agent, whose trees a server leads. If not, only while that agent has work or mail
   * left, and this process leads its trees.
   */
  readonly lasting: boolean;
  /** Names this machine, to which trees may be bound. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Maximum time that a call waits, in milliseconds: many clients give up after a minute. */
  readonly wait_ms: number;
  /** Called when something was written to the ledger that may need a leader. */
  readonly onEntered: () => void;
}
