import type { RequestRecord } from '../kernel/step.ts';
import type { AgentKind, PastAgent } from '../records/agent/estimate.ts';
import type { StateType } from '../records/agent/state.ts';
import type { RunSource } from '../records/run/run.ts';

export interface Load {
  /** Agents that a process leads, or that need a leader, counted by tree, state and leader. */
  readonly agents: readonly {
    readonly root_id: string;
    readonly status: StateType;
    readonly worker: string | null;
    readonly count: number;
  }[];
  /** Approvals that wait, by tree; `since`: when the oldest was asked for, milliseconds since the epoch. */
  readonly asks: readonly { readonly root_id: string; readonly count: number; readonly since: number }[];
  readonly runs: readonly {
    readonly source: RunSource;
    readonly queued: number;
    readonly running: number;
  }[];
  readonly deliveries: { readonly pending: number; readonly failed: number };
  readonly schedules: { readonly enabled: number; readonly due: number };
}

/** A model request; `place` numbers requests in the order in which the ledger got them. */
export interface PlacedRequest extends RequestRecord {
  readonly place: number;
  readonly agent_id: string;
  /** Null if its agent was removed. */
  readonly root_id: string | null;
}

/** A model request, with the tree and the profile of its agent. */
export interface PlacedUsage extends PlacedRequest {
  readonly root_id: string;
  readonly profile: string | null;
}

/** Reads for monitoring a whole ledger; their cost does not grow with its history. */
export interface LoadReads {
  load(): Promise<Load>;
  /** The place of the newest request; 0 if there is none. */
  lastRequest(): Promise<number>;
  /**
   * Requests of all agents after a place, in order. On PostgreSQL a request may appear after others with higher places: transactions that run at the same
   * time commit in any order. On SQLite the places of removed requests may be used again.
   */
  requestsAfter(place: number, limit: number): Promise<PlacedRequest[]>;
  /** Like `requestsAfter`, with the tree and the profile of each request, and without requests of removed agents; costs more for each. */
  usageAfter(place: number, limit: number): Promise<PlacedUsage[]>;
  /** Of the newest 200 agents of a kind, returns those that have asked their model and are not at work. */
  pastAgents(kind: AgentKind): Promise<PastAgent[]>;
}
