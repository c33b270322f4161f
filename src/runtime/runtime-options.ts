import { randomInt, randomUUID } from 'node:crypto';
import type { Toolset } from '../kernel/toolsets/toolset.ts';
import type { ToolsetTerms } from '../kernel/toolsets/toolset-terms.ts';
import type { Model } from '../models/model.ts';
import type { OpenHost } from '../models/model-host.ts';
import type { WorkflowHost } from '../models/workflow-host.ts';
import type { AgentConfig } from '../records/agent/agent.ts';
import type { Hooks } from '../records/hook.ts';
import type { Tool, ToolServers } from '../records/tool.ts';
import type { Store, WorkerRole } from '../store/store.ts';
import type { ContextOptions } from './performing/context-room.ts';
import type { SpillCleanup } from './performing/spill-cleanup.ts';
import type { RuntimeClock } from './runtime-clock.ts';

export interface RuntimeOptions {
  readonly store: Store;
  /** Opens a model by `provider/model`, once for each name; rejects with a `CoppiceError`. */
  readonly openModel: (name: string) => Promise<Model>;
  readonly tools: readonly Tool[];
  /** The MCP servers that tools of agents may name (`SERVER__TOOL`); loaded and started when an agent needs one. */
  readonly openServers?: () => Promise<ToolServers>;
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
  /** What runs by itself in the agent's folder, and may be written all the same; default: nothing. */
  readonly bounds?: { readonly unprotected?: readonly string[] };
  /** Lets agent programs (`acp:NAME`) act on this machine; without it they cannot be used. */
  readonly openHost?: OpenHost;
  /** Commands of a person that run at points of an agent's work (docs/hooks.md). */
  readonly hooks?: Hooks | undefined;
  /** Runs the scripts of workflows; without it there are none. */
  readonly workflows?: WorkflowHost;
  /**
   * Whether calls that need approval wait for a person, for all agents or depending on the configuration; otherwise they are denied. `terminal`: a person watches,
   * who is also asked before a limit of the tree ends it.
   */
  readonly can_ask?: boolean | 'terminal' | ((config: AgentConfig) => boolean);
  /** Role of this process; default `run`. */
  readonly role?: WorkerRole;
  /** Labels that trees may require of their leader (`RootTerms.placement`). */
  readonly labels?: readonly string[];
  /** Default: the system's clock, adjusted to the ledger's time. */
  readonly clock?: RuntimeClock;
  /** A new uuid, of an agent or of anything else; default: `idSequence`. */
  readonly newId?: NewId;
}

/** `RuntimeOptions` with defaults applied, and what the runtime creates for itself. */
export type OpenOptions = RuntimeOptions & {
  readonly clock: RuntimeClock;
  readonly newId: NewId;
  readonly output: SpillCleanup;
};

/** Number of values of one hex digit, and of the three that follow it. */
const PLACES = 16;
const RUNS = 4096;
/** Odd, so that all places are visited. */
const STRIDE = 7;

/** `of`: people read and type the ids of agents; those of letters and runs hardly ever. */
export type NewId = (of?: 'agent') => string;

/**
 * Returns a function that makes random uuids. Those of agents have a first hex digit that goes through all values, and three that then increase by one: siblings
 * differ from the beginning, for people who read and type ids, and at each of the 16 places ids are close together in an index, so that a commit writes fewer
 * pages than with scattered ones: with 256 places, a tree of ten children cost a tenth more. Of all others the first four digits increase by one, so that a
 * commit has one place. The other digits are random, so that a mistyped prefix matches nothing rather than a neighbour.
 */
export function idSequence(first = randomInt(PLACES * RUNS)): NewId {
  const made = { agents: 0, others: 0 };
  return (of) => {
    if (of !== 'agent') {
      made.others += 1;
      return idFrom(first + made.others);
    }
    const place = (first + made.agents * STRIDE) % PLACES;
    const run = Math.floor(first / PLACES + made.agents / PLACES) % RUNS;
    made.agents += 1;
    return idFrom(place * RUNS + run);
  };
}

function idFrom(beginning: number): string {
  return (beginning % (PLACES * RUNS)).toString(16).padStart(4, '0') + randomUUID().slice(4);
}
