import { randomInt, randomUUID } from 'node:crypto';
import type { Toolset } from '../kernel/toolsets/toolset.ts';
import type { ToolsetTerms } from '../kernel/toolsets/toolset-terms.ts';
import type { Model } from '../models/model.ts';
import type { CommandBounds } from '../processes/sandbox/command-bounds.ts';
import type { AgentConfig } from '../records/agent/agent.ts';
import type { Tool } from '../records/tool.ts';
import type { Store, WorkerRole } from '../store/store.ts';
import type { McpHost } from '../tools/mcp/mcp-host.ts';
import type { ContextOptions } from './performing/context-room.ts';
import type { SpillCleanup } from './performing/spill-cleanup.ts';
import type { RuntimeClock } from './runtime-clock.ts';

export interface RuntimeOptions {
  readonly store: Store;
  /** Opens a model by `provider/model`, once for each name; rejects with a `CoppiceError`. */
  readonly openModel: (name: string) => Promise<Model>;
  readonly tools: readonly Tool[];
  /** The MCP servers that tools of agents may name (`SERVER__TOOL`); loaded and started when an agent needs one. */
  readonly openServers?: () => Promise<McpHost>;
  /** Default: the five vocabularies. */
  readonly toolsets?: readonly Toolset[];
  /** How conversations are kept within the context windows of models. */
  readonly context?: ContextOptions;
  /** Configuration of agents that agents create. */
  readonly terms?: Partial<ToolsetTerms>;
  /** Folder for worktrees, and for output that is too large for a result. */
  readonly spill_dir: string;
  /** Files and folders with settings of this program, existing or not; no tool may write there. */
  readonly settings?: readonly string[];
  /** File with the rules that people granted permanently; without it, no rule can be granted permanently. */
  readonly rules_file?: string;
  /** Names of environment variables that tool processes may see in addition to the fixed allow-list. */
  readonly env_allow: readonly string[];
  /** Sandbox and limits for the commands that agent programs run; default: none. */
  readonly bounds?: CommandBounds;
  /** Whether calls that need approval wait for a person, for all agents or depending on the configuration; otherwise they are denied. */
  readonly can_ask?: boolean | ((config: AgentConfig) => boolean);
  /** Role of this process; default `run`. */
  readonly role?: WorkerRole;
  /** Labels that trees may require of their leader (`RootTerms.placement`). */
  readonly labels?: readonly string[];
  /** Default: the system's clock, adjusted to the ledger's time. */
  readonly clock?: RuntimeClock;
  /** A new uuid; default: `idSequence`. */
  readonly newId?: () => string;
}

/** `RuntimeOptions` with defaults applied, and what the runtime creates for itself. */
export type OpenOptions = RuntimeOptions & {
  readonly clock: RuntimeClock;
  readonly newId: () => string;
  readonly output: SpillCleanup;
};

const BEGINNINGS = 2 ** 16;
/** Number of consecutive ids with the same first four digits. */
const RUN = 64;

/**
 * Returns a function that makes random uuids whose first four hex digits stay the same for 64 ids and then increase by one:
 * index entries of agents that work at the same time are close together, so that a commit writes fewer pages than with
 * scattered ids. The other digits are random, so that a mistyped prefix matches nothing rather than a neighbour.
 */
export function idSequence(first = randomInt(BEGINNINGS)): () => string {
  let made = 0;
  return () => {
    const beginning = (first + Math.floor(made / RUN)) % BEGINNINGS;
    made += 1;
    return beginning.toString(16).padStart(4, '0') + randomUUID().slice(4);
  };
}
