import type { Origin } from '../../records/agent/agent.ts';
import type { StateType } from '../../records/agent/state.ts';
import type { MailKind } from '../../records/conversation/mail.ts';
import type { FireOutcome } from '../../records/run/cron-job.ts';
import type { WaitEdge } from './wait-cycle.ts';

/** What decisions look at of a tree. */
export interface TreeFacts {
  readonly root_id: string;
  /** JSON. */
  readonly limits: string;
  readonly live: number;
  readonly total: number;
  readonly tokens: number;
  readonly cost_usd: number;
  readonly served: boolean;
  /** `closed`: nobody leads it or writes to it any more; `begun`: some of it is gone. */
  readonly removal: 'closed' | 'begun' | null;
}

/** What decisions look at of an agent: all but its configuration, its state and its texts. */
export interface AgentFacts {
  readonly id: string;
  readonly root_id: string;
  readonly parent_id: string | null;
  readonly name: string;
  readonly origin: Origin;
  readonly depth: number;
  readonly status: StateType;
  readonly last_seq: number;
  readonly mail_count: number;
  readonly noticed: number;
  readonly living_children: number;
  readonly worker: string | null;
  readonly epoch: number;
  readonly deaths: number;
  readonly calls: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cached_tokens: number;
  readonly reasoning_tokens: number;
  readonly cost_usd: number | null;
  readonly last_write: string | null;
}

export interface MailFacts {
  readonly id: string;
  readonly to_id: string;
  readonly number: number;
  readonly consumed_seq: number | null;
}

export interface PendingMail {
  readonly id: string;
  readonly kind: MailKind;
  readonly number: number;
}

export interface RunFacts {
  readonly id: string;
  readonly root_id: string;
  readonly agent_id: string;
  readonly started_at: number | null;
  readonly finished_at: number | null;
  /** Targets as JSON. */
  readonly deliver: string;
  readonly cleaned_at: number | null;
}

export interface AskFacts {
  readonly id: string;
  readonly root_id: string;
  readonly agent_id: string;
  readonly verdict: string | null;
  readonly scope: string | null;
  readonly note: string | null;
  readonly answered_by: string | null;
  readonly answered_at: number | null;
}

export interface WorkerFacts {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly role: string;
  /** JSON. */
  readonly labels: string;
  readonly draining: boolean;
  readonly started_at: number;
  readonly expires_at: number;
}

export interface JobFacts {
  readonly id: string;
  readonly version: number;
  readonly enabled: boolean;
  readonly next_at: number | null;
}

/** An instant of a job, by what tells it apart from others of the job. */
export interface WaitingFire {
  readonly instant: number;
  readonly manual: boolean;
}

export interface FireFacts {
  readonly outcome: FireOutcome;
  readonly fired_at: number;
}

/**
 * Everything that a decision may ask the ledger for, by its kind: what the answer to one key is. Kinds that name many (`below`, `children`) answer with ids;
 * what is known of each is asked for by its own kind.
 */
export interface FactKinds {
  tree: TreeFacts | null;
  agent: AgentFacts | null;
  /** By the id of a letter. */
  mail: MailFacts | null;
  /** Letters of an agent that nothing has consumed. */
  pending: readonly PendingMail[];
  /** Whom an agent waits for. */
  edges: readonly WaitEdge[];
  /** Whom an agent waits for, whom these wait for, and so on; itself first. */
  reach: readonly string[];
  /** Who waits for an agent. */
  waiters: readonly string[];
  /** An agent and all below it that are alive, if it is. */
  below: readonly string[];
  /** The agents that an agent made and that are still in the ledger. */
  children: readonly string[];
  /** How many of the agents that an agent made rest; how many rest in a tree (`restsBy`). */
  resting_children: number;
  resting_in_tree: number;
  run: RunFacts | null;
  ask: AskFacts | null;
  /** Questions of an agent that nobody has answered. */
  open_asks: readonly string[];
  /** Since when an agent waits for a leader; null: it does not. */
  unled: number | null;
  /** Living agents of a tree. */
  members: readonly string[];
  /** The state of an agent, as JSON. */
  state: string | null;
  worker: WorkerFacts | null;
  /** Agents that a worker leads, at most `FREED_AT_ONCE`. */
  held: readonly string[];
  /** Agents of which a worker was told something that it has not heard yet. */
  told: readonly string[];
  job: JobFacts | null;
  /** The job that has a name. */
  job_named: string | null;
  /** How many jobs of a tree are enabled. */
  enabled_jobs: number;
  /** A run of the job has not ended. */
  job_at_work: boolean;
  /** The instant of a job that waits for the run before. */
  waiting_fire: WaitingFire | null;
  /** By `fireKey`. */
  fire: FireFacts | null;
}

export type FactKind = keyof FactKinds;

/** What is asked for: keys by kind. */
export type Wanted = { readonly [Kind in FactKind]?: Iterable<string> };

/**
 * Answers from the ledger, as it was when the transaction began. One that an adapter has not read yet is asked for by a `MissingFacts` that it throws: it
 * reads them and decides anew.
 */
export interface Facts {
  /** The clock of the database, milliseconds since the epoch. */
  readonly now: number;
  get<Kind extends FactKind>(kind: Kind, key: string): FactKinds[Kind];
  /** Has all of these read in one go, before they are asked for one by one. */
  want(wanted: Wanted): void;
}
