import type { RequestRecord } from '../kernel/step.ts';
import type { AgentKind, PastAgent } from '../records/agent/estimate.ts';
import type { StateType } from '../records/agent/state.ts';
import type { RunSource } from '../records/run/run.ts';

/** What a ledger has to do now. */
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

/** A request in the order in which the ledger got them. */
export interface PlacedRequest extends RequestRecord {
  readonly place: number;
  readonly agent_id: string;
  /** Null: its agent was removed. */
  readonly root_id: string | null;
}

/** A request, and whose it was. */
export interface PlacedUsage extends PlacedRequest {
  readonly root_id: string;
  readonly profile: string | null;
}

/** Reads for those who watch a whole ledger. None costs more because much has happened before. */
export interface LoadReads {
  load(): Promise<Load>;
  /** The place of the newest request; 0: there is none. */
  lastRequest(): Promise<number>;
  /**
   * Requests of all agents after a place, in order. On PostgreSQL a request may appear after others with higher places: transactions that run at the same
   * time commit in any order. On SQLite the places of removed requests may be used again.
   */
  requestsAfter(place: number, limit: number): Promise<PlacedRequest[]>;
  /** The same, with whose they were; costs more for each. */
  usageAfter(place: number, limit: number): Promise<PlacedUsage[]>;
  /** Of the newest 200 agents of a kind, those that asked their model and do not work now. */
  pastAgents(kind: AgentKind): Promise<PastAgent[]>;
}
