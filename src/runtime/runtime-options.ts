import type { Toolset } from '../kernel/toolsets/toolset.ts';
import type { ToolsetTerms } from '../kernel/toolsets/toolset-terms.ts';
import type { Model } from '../models/model.ts';
import type { AgentConfig } from '../records/agent/agent.ts';
import type { Tool } from '../records/tool.ts';
import type { Store, WorkerRole } from '../store/store.ts';
import type { SpillCleanup } from './performing/spill-cleanup.ts';
import type { RuntimeClock } from './runtime-clock.ts';

export interface RuntimeOptions {
  readonly store: Store;
  /** `provider/model` → model; rejects with a `CoppiceError`. Asked once per name. */
  readonly openModel: (name: string) => Promise<Model>;
  readonly tools: readonly Tool[];
  /** Default: the five vocabularies that exist. */
  readonly toolsets?: readonly Toolset[];
  /** What the configuration says of agents that agents create. */
  readonly terms?: Partial<ToolsetTerms>;
  /** Folder for worktrees, and for output that does not fit a result. */
  readonly spill_dir: string;
  /** Files and folders with settings of this program; no tool writes there, also before they are there. */
  readonly settings?: readonly string[];
  /** Environment variables that tool processes may see beside the fixed allow-list. */
  readonly env_allow: readonly string[];
  /** What a rule asks about waits for a person's answer, of all agents or of those with such a configuration; of others it is denied. */
  readonly can_ask?: boolean | ((config: AgentConfig) => boolean);
  /** What this process is for; default `run`. */
  readonly role?: WorkerRole;
  /** What trees may ask of whoever leads them (`RootTerms.placement`). */
  readonly labels?: readonly string[];
  /** Default: the system's clock, set to the time of the ledger. */
  readonly clock?: RuntimeClock;
  /** A new uuid; default a random one. */
  readonly newId?: () => string;
}

/** The same with its defaults, and what a runtime makes for itself. */
export type OpenOptions = RuntimeOptions & {
  readonly clock: RuntimeClock;
  readonly newId: () => string;
  readonly output: SpillCleanup;
};
