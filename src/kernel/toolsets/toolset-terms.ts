import type { Profile } from '../../records/agent/profile.ts';
import type { RunSource } from '../../records/run/run.ts';

/** What the configuration of this process says about agents that agents create. */
export interface ToolsetTerms {
  readonly profiles: ReadonlyMap<string, Profile>;
  readonly subagents: {
    /** Profiles that `sessions_spawn` may name, `main` for none; null: all (seed 4, Agent Allowlist). */
    readonly allow_agents: readonly string[] | null;
    /** Model of background runs that name none; null: the requester's. */
    readonly model: string | null;
    /** Background runs of one tree at work at once; more are queued. */
    readonly max_concurrent: number;
  };
  /** Isolated runs of this process at work at once, whoever asked for them; more are queued. */
  readonly runs: {
    readonly max_concurrent: number;
    readonly per_source: Readonly<Record<RunSource, number>>;
  };
  /** Targets outside that agents may have results delivered to (`telegram:42`, `webhook:ops`). */
  readonly deliver_to: readonly string[];
  readonly delegation: {
    /** Deepest delegated agent (seed 5). */
    readonly max_depth: number;
    /** Model requests of a delegated agent that names no number. */
    readonly default_turns: number;
    /** System prompt of delegated agents that name none; null: the parent's. */
    readonly system: string | null;
    /** Names of the configured ACP servers, and the one that is meant when none is named. */
    readonly servers: readonly string[];
    readonly default_server: string | null;
    readonly default_agent: string | null;
  };
}

export const DEFAULT_TERMS: ToolsetTerms = {
  profiles: new Map(),
  subagents: { allow_agents: null, model: null, max_concurrent: 8 },
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
