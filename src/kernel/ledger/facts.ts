import type { AgentColumns, Tree } from '../../records/agent/agent.ts';
import type { StateType } from '../../records/agent/state.ts';
import type { Mail } from '../../records/conversation/mail.ts';
import type { CronFire, CronJob } from '../../records/run/cron-job.ts';
import type { TaskRow } from '../../records/run/listed-task.ts';
import type { Run } from '../../records/run/run.ts';
import type { WaitEdge } from './wait-cycle.ts';

/** The columns of a tree that decisions use. */
export interface TreeFacts extends Pick<Tree, 'root_id' | 'live' | 'total' | 'tokens' | 'cost_usd'> {
  /** JSON. */
  readonly limits: string;
  readonly cached_tokens: number;
  readonly reserved_tokens: number;
  readonly reserved_usd: number;
  readonly served: boolean;
  /** `closed`: nobody leads the tree or writes to it any more; `begun`: some of its rows have been removed. */
  readonly removal: 'closed' | 'begun' | null;
}

/** The columns of an agent that decisions use: all but its configuration, state and texts. */
export interface AgentFacts extends AgentColumns {
  readonly status: StateType;
  readonly living_children: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cached_tokens: number;
  readonly reasoning_tokens: number;
  readonly cost_usd: number | null;
  /** The agent's own budget (`AgentBudget`), as JSON; null if it has none. */
  readonly budget: string | null;
  readonly last_write: string | null;
}

export type MailFacts = Pick<Mail, 'id' | 'to_id' | 'from_id' | 'kind' | 'number' | 'consumed_seq'>;

export type PendingMail = Pick<Mail, 'id' | 'kind' | 'number'>;

export interface RunFacts extends Pick<Run, 'id' | 'root_id' | 'agent_id' | 'started_at' | 'finished_at'> {
  /** Targets as JSON. */
  readonly deliver: string;
  readonly cleaned_at: number | null;
}

/** A queued background run: its agent, and the worker that leads it. */
export interface QueuedRun {
  readonly id: string;
  readonly worker: string;
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
  /** Whether the lease has not expired. */
  readonly leased: boolean;
  readonly expires_at: number;
}

export interface SpokenFacts {
  readonly kind: 'user' | 'assistant';
  readonly content: string;
}

export type JobFacts = Pick<CronJob, 'id' | 'version' | 'enabled' | 'next_at'>;

/** The key of an instant within its job. */
export type WaitingFire = Pick<CronFire, 'instant' | 'manual'>;

export type FireFacts = Pick<CronFire, 'outcome' | 'fired_at'>;

/**
 * Everything that a decision may read from the ledger: for each kind, the type of the fact under one key. Kinds that list agents (`below`, `children`) list
 * ids; the agents themselves are facts of their own. The names are part of the protocol of `coppice_facts` (store/postgres/functions.ts).
 */
export interface FactKinds {
  tree: TreeFacts | null;
  agent: AgentFacts | null;
  /** Key: the mail's id. */
  mail: MailFacts | null;
  /** Unconsumed mail of an agent. */
  pending: readonly PendingMail[];
  /** The agents that an agent waits for. */
  edges: readonly WaitEdge[];
  /** All agents reachable from an agent along wait-for edges, the agent itself first. */
  reach: readonly string[];
  /** The agents that wait for an agent. */
  waiters: readonly string[];
  /** A living agent and its living descendants. */
  below: readonly string[];
  /** The children of an agent that are still in the ledger, and agents of trees that were cut from its tree: they go on with its messages. */
  children: readonly string[];
  /** Number of children of an agent, and of agents of a tree, that are at rest. */
  resting_children: number;
  resting_in_tree: number;
  /** Agents that scripts of workflows have created, also those that have ended. */
  scripted_in_tree: number;
  run: RunFacts | null;
  /** The task list of a tree. */
  tasks: readonly TaskRow[];
  /** Key: the agent of a background run. The oldest queued runs of its tree that a worker leads, at most `QUEUED_BATCH`. */
  queued: readonly QueuedRun[];
  ask: AskFacts | null;
  /** Unanswered asks of an agent. */
  open_asks: readonly string[];
  /** Time from which an agent needs a leader, milliseconds since the epoch; null if it needs none. */
  unled: number | null;
  /** Living agents of a tree. */
  members: readonly string[];
  /** The state of an agent, as JSON. */
  state: string | null;
  /** The configuration of an agent, as JSON. */
  config: string | null;
  /** The newest messages to and from an agent, newest first, without those of its ancestors; each content is JSON. */
  spoken: readonly SpokenFacts[];
  worker: WorkerFacts | null;
  /** Agents that a worker leads, at most `FREE_BATCH`. */
  held: readonly string[];
  /** Agents for which a worker has unread signals. */
  told: readonly string[];
  job: JobFacts | null;
  /** The id of the job with this name. */
  job_named: string | null;
  enabled_jobs: number;
  /** Whether a run of the job has not ended. */
  job_at_work: boolean;
  /** The instant of a job that is queued behind a run. */
  waiting_fire: WaitingFire | null;
  /** Key: `fireKey`. */
  fire: FireFacts | null;
}

export type FactKind = keyof FactKinds;

export type FactKeys = { readonly [Kind in FactKind]?: Iterable<string> };

/**
 * Snapshot of the ledger at the beginning of the transaction. `get` may throw for a fact that the adapter has not read yet; the adapter then reads it and
 * runs the decision again.
 */
export interface Facts {
  /** The clock of the database, milliseconds since the epoch. */
  readonly now: number;
  get<Kind extends FactKind>(kind: Kind, key: string): FactKinds[Kind];
  /** Reads all of these in one round trip, before `get` asks for them one by one. */
  prefetch(keys: FactKeys): void;
}
