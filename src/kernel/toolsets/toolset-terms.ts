import type { Profile } from '../../records/agent/profile.ts';
import type { RunSource } from '../../records/run/run.ts';

/** Configuration for agents that are created by agents. */
export interface ToolsetTerms {
  readonly profiles: ReadonlyMap<string, Profile>;
  readonly subagents: {
    /** Profiles that `sessions_spawn` may name (`main`: no profile); null: all. */
    readonly allow_agents: readonly string[] | null;
    /** Default model of background runs; null: the requester's. */
    readonly model: string | null;
    /** Models that agents may choose besides those of their ancestors and of profiles, `provider/*` for all of a provider; null: any. */
    readonly models: readonly string[] | null;
    /** Maximum concurrent background runs of one tree; more are queued. */
    readonly max_concurrent: number;
    /** Parameters that models are sent only if asked for (`ASKED_PARAMETERS`). */
    readonly parameters: readonly string[];
  };
  /** Maximum concurrent isolated runs of this process; more are queued. */
  readonly runs: {
    readonly max_concurrent: number;
    readonly per_source: Readonly<Record<RunSource, number>>;
  };
  /** Outside targets to which agents may deliver results (`telegram:42`, `webhook:ops`). */
  readonly deliver_to: readonly string[];
  readonly delegation: {
    /** Maximum delegation depth. */
    readonly max_depth: number;
    /** Default maximum of model requests of a delegated agent. */
    readonly default_turns: number;
    /** Default system prompt of delegated agents; null: the parent's. */
    readonly system: string | null;
    /** Names of the configured ACP servers, and the default one. */
    readonly servers: readonly string[];
    readonly default_server: string | null;
    readonly default_agent: string | null;
  };
}

export const DEFAULT_TERMS: ToolsetTerms = {
  profiles: new Map(),
  subagents: { allow_agents: null, model: null, models: null, max_concurrent: 8, parameters: [] },
  runs: { max_concurrent: 100, per_source: { cron: 8, subagent: 100, delegate: 100 } },
  deliver_to: [],
  delegation: {
    max_depth: 2,
    default_turns: 10,
    system: null,
    servers: [],
    default_server: null,
    default_agent: null,
  },
};
