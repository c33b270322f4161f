import type { Refusal, RequestRecord, Step, Verdict } from '../kernel/step.ts';
import type { Agent, Tree } from '../records/agent/agent.ts';
import type { Limits } from '../records/agent/limits.ts';
import type { NewAgent } from '../records/agent/new-agent.ts';
import type { Ask, AskAnswer } from '../records/conversation/ask.ts';
import type { Mail, NewMail } from '../records/conversation/mail.ts';
import type { PlacedMessage } from '../records/conversation/message.ts';
import type { Run, RunSource } from '../records/run/run.ts';
import type { CronLedger } from './cron-ledger.ts';
import type { OutboxLedger } from './outbox-ledger.ts';
import type { RetentionLedger } from './retention-ledger.ts';

/** One process that advances agents. Its heartbeat carries the leases of all agents it holds. */
export interface Worker {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  /** What the process is for; default `run`. */
  readonly role?: WorkerRole;
  /** What a tree may ask for (`RootTerms.placement`). */
  readonly labels?: readonly string[];
}

/** `serve`: it fires schedules, delivers, and leads served trees that nobody leads. `worker`: it leads such trees. */
export type WorkerRole = 'run' | 'serve' | 'worker';

/** How a tree is led that nobody led from the beginning. */
export interface RootTerms {
  /** Whoever serves leads it when nobody else does. */
  readonly served?: boolean;
  /** Labels that a worker must have to take it over by itself (`host:alpha`, `gpu`). */
  readonly placement?: readonly string[];
}

/** A worker as the ledger has it. */
export interface KnownWorker extends Worker {
  readonly role: WorkerRole;
  readonly labels: readonly string[];
  /** It was told to take nothing more and to end when its turns have ended. */
  readonly draining: boolean;
  /** Milliseconds since the epoch, both; 0: not known. */
  readonly started_at: number;
  readonly expires_at: number;
}

/** Something reached an agent that `worker` holds (or waits in), written in the transaction that caused it. */
export interface Signal {
  readonly agent_id: string;
  readonly kind: 'mail' | 'killed' | 'status';
  /** For `status`: the agent whose status changed. */
  readonly about: string | null;
}

/** How the ledger is opened. */
export interface OpenStoreOptions {
  /** False: where there is no ledger yet, none is made; `openStore` rejects with `E_DB_NONE`. Default true. */
  readonly create?: boolean;
  /** False: no wake-ups from the database; `listen` only polls, once a second. Default true. */
  readonly notifications?: boolean;
  /** The clock that leases are measured by, milliseconds since the epoch. SQLite only: a server has its own. Default `Date.now`. */
  readonly now?: () => number;
}

export interface AgentFilter {
  readonly root_id?: string;
  readonly parent_id?: string;
  /** Only conversations that people began: no runs on a timer, nothing below a root. */
  readonly conversations?: boolean;
  /** Only agents that work in this folder. */
  readonly cwd?: string;
  /** Leave out terminal agents. */
  readonly living?: boolean;
  /** Newest first; default no limit. */
  readonly limit?: number;
}

export interface RunFilter {
  readonly root_id?: string;
  readonly source?: RunSource;
  readonly job_id?: string;
  /** Only queued and running ones. */
  readonly active?: boolean;
  /** Newest first; default no limit. */
  readonly limit?: number;
}

/** What changes a tree, but for who leads it. */
export interface TreeWrites {
  /** A new tree with its root agent. */
  createRoot(root: NewAgent, limits: Limits, terms?: RootTerms): Promise<Tree>;
  commit(steps: readonly Step[]): Promise<Verdict[]>;
  /** A letter from outside the tree's own steps: the human, another program. Guard `recipient` (any tree). One that is there already (`id`) is not sent again. */
  send(mail: NewMail): Promise<{ ok: true; mail: Mail } | { ok: false; refusal: Refusal }>;
  /**
   * Kills the agent and its living descendants, whoever holds them: states become terminal, epochs rise, a `killed` event naming
   * who, whom and how many is appended to each, wait-for edges end, counters fall, holders and waiters get signals.
   * `ids` is empty when it was terminal already.
   */
  kill(agent_id: string, by: string, at: number): Promise<{ readonly ids: readonly string[] }>;
  /** Raises (or lowers) the limits of a tree. */
  setLimits(root_id: string, limits: Limits): Promise<Tree>;
  /** Answers an ask once: its agent gets the answer as mail of kind `control`. False: somebody answered already, or the call is gone. */
  answer(
    ask_id: string,
    answer: AskAnswer,
  ): Promise<{ readonly ok: true; readonly mail: Mail } | { readonly ok: false }>;
  /** Takes ended agents of a tree out of people's sight; resolves to their ids (seed 1, `/reap`). */
  reap(root_id: string, at: number): Promise<string[]>;
}

/** What the ledger says of trees, their agents, and what belongs to these. */
export interface TreeReads {
  agent(id: string): Promise<Agent | null>;
  agents(filter: AgentFilter): Promise<Agent[]>;
  /** By uuid, unique prefix (at least 4 characters), name or session key; all that match, living ones first, at most 20. `root_id` narrows to a tree. */
  find(text: string, root_id?: string): Promise<Agent[]>;
  tree(root_id: string): Promise<Tree | null>;
  /** The composed history: the ancestors' up to each fork point, then its own; from `after` (exclusive), oldest first. */
  history(agent_id: string, after?: number, limit?: number): Promise<PlacedMessage[]>;
  /** Pending mail in order; with `all`, consumed too. */
  mail(to_id: string, all?: boolean): Promise<Mail[]>;
  /** Ids of agents whose wait-for edges point at `agent_id`. */
  waiters(agent_id: string): Promise<string[]>;
  requests(agent_id: string): Promise<RequestRecord[]>;
  /**
   * The run history, newest first. A run is entered with its agent (`NewAgent.run`): `running` when the agent begins at once, else
   * `queued` until its first turn. It is closed in the transaction that ends its agent, whoever ends it.
   */
  runs(filter: RunFilter): Promise<Run[]>;
  /** By run id, unique prefix of one (at least 4 characters), or session key; all that match, newest first, at most 20. */
  findRuns(text: string): Promise<Run[]>;
  /** What people were asked, oldest first; `open`: only what waits for an answer. */
  asks(filter: {
    readonly root_id?: string;
    readonly agent_id?: string;
    readonly open?: boolean;
  }): Promise<Ask[]>;
  /** By id or unique prefix of one (at least 4 characters), newest first, at most 20. */
  findAsks(text: string): Promise<Ask[]>;
}

/** Who leads what. */
export interface Leases {
  /** Enters the worker, or renews its lease; false: it had expired and its agents may be claimed by others. */
  heartbeat(worker: Worker): Promise<boolean>;
  /** Gives up every lease of the worker and removes it. */
  release(worker_id: string): Promise<void>;
  /**
   * Leases to `worker` every living agent of the tree that nobody holds: no worker, an expired one, or one of the same host whose
   * process is gone (`deadPids` decides that among candidates). Epochs rise. Returns them as they are now. Agents that are terminal are never claimed.
   */
  claim(root_id: string, worker: Worker): Promise<Agent[]>;
  /**
   * Served trees in which something is to be done and nobody does it: an agent at work, or at rest with mail, without a living worker. Not those in
   * which all work is parked and not due (`releaseTree`).
   */
  unledTrees(limit: number, labels?: readonly string[]): Promise<string[]>;
  /** Labels that a worker must have to lead this served tree by itself; null: it is not served, or not there. */
  placement(root_id: string): Promise<readonly string[] | null>;
  /** From now on the tree is served. */
  serveTree(root_id: string): Promise<void>;
  /**
   * Gives up the worker's leases of one tree: its agents are rows again until something is to be done. `parked`: agents at work that need nobody until
   * then (milliseconds since the epoch, `Infinity`: for ever), unless mail comes, somebody they wait for ends, or the worker was told of either and did not take
   * the signal.
   */
  releaseTree(root_id: string, worker_id: string, parked?: ReadonlyMap<string, number>): Promise<void>;
  /** Takes (and removes) the signals for this worker. */
  signals(worker_id: string): Promise<Signal[]>;
  /** Workers whose lease is alive. */
  workers(): Promise<KnownWorker[]>;
  /** How many agents each of these workers leads. */
  ledBy(worker_ids: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Tells a worker to take nothing more and to end; false: there is no such worker. */
  drainWorker(worker_id: string): Promise<boolean>;
}

/**
 * The ledger: what is not committed did not happen. The contract, for every adapter:
 * - Every method that writes is one transaction and durable when its promise resolves.
 * - `commit` takes many steps at once (group commit): a refused step changes nothing and does not disturb the others; steps
 *   apply in the order given, so a later step sees what an earlier one wrote.
 * - Errors of the database itself reject with a `StoreError`; the same call may then be made again (steps
 *   that had been applied are refused as `stale`).
 * - Reads see every step whose promise has resolved.
 * - Text is kept to the letter, any Unicode; NUL and lone surrogates have been replaced before they get here.
 */
export interface Store extends TreeWrites, TreeReads, Leases, CronLedger, OutboxLedger, RetentionLedger {
  readonly kind: 'sqlite' | 'postgres';
  /** For people and logs: without passwords. */
  readonly location: string;
  /**
   * Calls `wake` soon after another process wrote something for this worker. Hints only: they may be doubled, lost or
   * for nothing. Resolves to a function that stops it.
   */
  listen(worker_id: string, wake: () => void): Promise<() => Promise<void>>;
  /** The database's clock, milliseconds since the epoch. */
  now(): Promise<number>;
  close(): Promise<void>;
}
