import type { Limits } from './limits.ts';
import type { AgentState } from './state.ts';
import type { TaskTerms } from './task-terms.ts';
import type { Usage } from './usage.ts';

export interface PermissionRules {
  readonly allow: readonly string[];
  readonly ask: readonly string[];
  readonly deny: readonly string[];
}

/** What an agent was created with; fixed for its life, but for its model. */
export interface AgentConfig {
  /** `provider/model`; a person may choose another one. */
  readonly model: string;
  readonly thinking: 'off' | 'low' | 'medium' | 'high';
  readonly system: string;
  /** Names of the toolsets and tools its model sees. */
  readonly toolsets: readonly string[];
  readonly tools: readonly string[];
  /** Absolute path of its folder. */
  readonly cwd: string;
  /** Permission rules in text form (`bash:git *`): what the command line says goes before the configuration. */
  readonly permissions: {
    readonly cli: PermissionRules;
    readonly config: PermissionRules;
    /** What the root's own profile allows, where neither of them says anything. */
    readonly granted?: readonly string[];
    /** What profiles on the way down leave of all that; they never allow anything more (SAFETY.md). */
    readonly narrowed?: readonly PermissionRules[];
  };
  /** The profile it was set up by, if one was named. */
  readonly profile?: string;
  /** Model requests of one turn, where it is fewer than the tree allows. */
  readonly turns?: number;
  /** Wall time of one turn in milliseconds, where it is less than the tree allows. */
  readonly run_ms?: number;
  /** Absent in conversations that a person began, and in their forks. */
  readonly task?: TaskTerms;
  /**
   * The chat that a person talks with its tree in, as a target of the outbox (`telegram:42`): what its tree must be allowed is asked there, and a
   * root's replies go there.
   */
  readonly channel?: string;
  /** Nobody watches its tree: without a chat, what a rule asks about is denied. */
  readonly unattended?: boolean;
}

/**
 * How an agent came to be: it decides what its history begins with and how its outcome is delivered. `cron`: the root of a tree of its own,
 * begun by a timer.
 */
export type Origin = 'root' | 'fork' | 'spawn' | 'session' | 'delegate' | 'cron';

/** One agent as the ledger knows it. */
export interface Agent {
  readonly id: string;
  readonly root_id: string;
  readonly parent_id: string | null;
  readonly name: string;
  /** `agent:main:main`, `agent:main:subagent:<uuid>`, `cron:<jobId>`. Unique among living agents of a tree only. */
  readonly session_key: string;
  readonly origin: Origin;
  /** 0 for a root. */
  readonly depth: number;
  readonly config: AgentConfig;
  readonly state: AgentState;
  /** Seq of its newest message; a fresh fork starts at its fork point. */
  readonly last_seq: number;
  /** History up to and including this place belongs to the ancestor. */
  readonly forked_from: { readonly agent_id: string; readonly seq: number } | null;
  /** Letters ever addressed to it; the newest letter has this number. */
  readonly mail_count: number;
  readonly worker: string | null;
  readonly epoch: number;
  /** How many of its processes died while a call of it ran in them, since it last rested. */
  readonly deaths: number;
  readonly calls: number;
  readonly usage: Usage;
  /** One line on what it does right now, for people. */
  readonly doing: string | null;
  /** Text of its last finished turn. */
  readonly reply: string | null;
  /** Number of the newest letter that it was given notice of (seed 2); 0 when it never was. */
  readonly noticed: number;
  /**
   * When the ledger was looked at, mail lay there that wakes it and that it was not told of: it rests, and is about to work. What is true of an agent
   * that a process leads, the process knows better.
   */
  readonly unread?: true;
  /** It sent a letter to its parent since its last turn began. */
  readonly sent_this_turn: boolean;
  /** Milliseconds since the epoch. */
  readonly created_at: number;
  readonly updated_at: number;
  readonly ended_at: number | null;
  /** When a person took it out of sight; it stays in the ledger. */
  readonly reaped_at: number | null;
}

/** The counters of one tree, and its limits (law 7). */
export interface Tree {
  readonly root_id: string;
  readonly limits: Limits;
  /** Agents that are not terminal, the root included. */
  readonly live: number;
  /** Agents ever created, the root included. */
  readonly total: number;
  readonly tokens: number;
  readonly cost_usd: number;
}
