/**
 * The ledger as the rest of the program sees it. This file and those named *-ledger.ts are the contract; ledger/ implements it on a database, of which there
 * are two: sqlite/ and postgres/.
 */

import type { CutLedger } from '../kernel/cut/cut-facts.ts';
import type { BudgetChange } from '../kernel/ledger/budgets.ts';
import type { Refusal, Step, Verdict } from '../kernel/step.ts';
import type { Agent, Tree } from '../records/agent/agent.ts';
import type { Limits } from '../records/agent/limits.ts';
import type { SpendingLimits } from '../records/agent/spending.ts';
import type { Ask, AskAnswer } from '../records/conversation/ask.ts';
import type { Checkpoint } from '../records/conversation/checkpoint.ts';
import type { Mail, NewMail } from '../records/conversation/mail.ts';
import type { PlacedMessage } from '../records/conversation/message.ts';
import type { ListedTask, TaskAnswer, TaskCall, TaskOrder } from '../records/run/listed-task.ts';
import type { NewAgent } from '../records/run/new-agent.ts';
import type { Run, RunSource } from '../records/run/run.ts';
import type { CronLedger } from './cron-ledger.ts';
import type { LoadReads, PlacedRequest } from './load-ledger.ts';
import type { OutboxLedger } from './outbox-ledger.ts';
import type {
  AskMark,
  Conversation,
  FileChange,
  FoundCall,
  FoundMessage,
  TreeLetter,
} from './read-records.ts';
import type { RetentionLedger } from './retention-ledger.ts';

/** A process that leads agents. One heartbeat renews all its leases. */
export interface Worker {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  /** Purpose of the process; default `run`. */
  readonly role?: WorkerRole;
  /** Labels that the placement of a tree may require (`RootTerms.placement`). */
  readonly labels?: readonly string[];
}

/** `serve`: fires schedules, delivers, and leads served trees that have no leader. `worker`: leads such trees. */
export type WorkerRole = 'run' | 'serve' | 'worker';

/** How a tree finds a leader. */
export interface RootTerms {
  /** Any server or worker may lead it. */
  readonly served?: boolean;
  /** Labels that a worker needs to take it over by itself (`host:alpha`, `gpu`). */
  readonly placement?: readonly string[];
}

/** A worker as recorded in the ledger. */
export interface KnownWorker extends Worker {
  readonly role: WorkerRole;
  readonly labels: readonly string[];
  /** Whether the worker was told to take no more trees and to exit when its turns have ended. */
  readonly draining: boolean;
  /** Both in milliseconds since the epoch; 0 if unknown. */
  readonly started_at: number;
  readonly expires_at: number;
}

/** Tells a worker that something reached an agent that it leads; written in the transaction that caused it. */
export interface Signal {
  readonly agent_id: string;
  readonly kind: 'mail' | 'killed' | 'status';
  /** For `status`: the agent whose status changed. */
  readonly about: string | null;
}

export interface OpenStoreOptions {
  /** Whether a missing ledger is created; if not, `openStore` rejects with `E_DB_NONE`. Default true. */
  readonly create?: boolean;
  /** If false, `listen` only polls, once a second. Default true. */
  readonly notifications?: boolean;
  /** If false, PostgreSQL's `listen` does not poll beside its notifications, so that a test detects a lost one. Default true. */
  readonly polls?: boolean;
  /** The ledger's clock, milliseconds since the epoch. SQLite only: a server has its own. Default `Date.now`. */
  readonly now?: () => number;
}

export interface AgentFilter {
  readonly root_id?: string | undefined;
  readonly parent_id?: string | undefined;
  /** Only conversations that people started: no runs on a timer, no descendants. */
  readonly conversations?: boolean | undefined;
  /** Only roots, regardless of who began their trees. */
  readonly roots?: boolean | undefined;
  /** Only workflow runs, wherever they began. */
  readonly workflows?: boolean | undefined;
  /** Only agents below this place of the list (`list-place.ts`). */
  readonly before?: string | undefined;
  /** Only agents that work in this folder. */
  readonly cwd?: string | undefined;
  /** Only agents of trees that were cut from the tree with this root. */
  readonly cut_of?: string | undefined;
  /** Leaves out terminal agents. */
  readonly living?: boolean | undefined;
  /** Leaves out agents that were killed, those that ended well, and forks at rest; their number is that of the tree. */
  readonly unsettled?: boolean | undefined;
  /** Newest first; default no limit. */
  readonly limit?: number | undefined;
}

export interface RunFilter {
  readonly root_id?: string | undefined;
  readonly source?: RunSource | undefined;
  readonly job_id?: string | undefined;
  /** Only queued and running ones. */
  readonly active?: boolean | undefined;
  readonly before?: string | undefined;
  /** Newest first; default no limit. */
  readonly limit?: number | undefined;
}

/** Shows whether an agent has changed, without its configuration and conversation. */
export interface AgentMark extends Pick<Agent, 'id' | 'root_id' | 'worker' | 'last_seq' | 'mail_count'> {
  /** Differs after every change of the agent; only to be compared for equality. */
  readonly version: string;
}

/** Selects agents that a process other than this worker leads, the newest roots, or a whole tree. */
export type MarkFilter =
  | { readonly led_without: string; readonly limit: number }
  | { readonly newest_roots: number }
  | { readonly root_id: string };

/** Writes to trees, except who leads them. */
export interface TreeWrites {
  /** Creates a tree with its root agent. Idempotent by the root's id. */
  createRoot(root: NewAgent, limits: Limits, terms?: RootTerms): Promise<Tree>;
  commit(steps: readonly Step[]): Promise<Verdict[]>;
  /** Mail from outside the tree's own steps: from a person or a program. Guard `recipient` (any tree). Idempotent by the mail's id. */
  send(mail: NewMail): Promise<{ ok: true; mail: Mail } | { ok: false; refusal: Refusal }>;
  /** Takes back a person's letter that an agent at work has not read; false if it was read, or cannot be taken back. Idempotent. */
  takeBack(to_id: string, mail_id: string): Promise<boolean>;
  /**
   * Kills the agent and its living descendants, whoever leads them: states become terminal, epochs rise, a `killed` event is appended to each, wait-for edges
   * end, counters fall, leaders and waiters get signals. `ids` is empty if the agent had ended before.
   */
  kill(agent_id: string, by: string, at: number): Promise<{ readonly ids: readonly string[] }>;
  setLimits(root_id: string, limits: Limits): Promise<Tree>;
  /** Changes the limits of an agent's existing budget; for a root, also those of its tree. `error`: why not. Idempotent. */
  changeBudget(agent_id: string, wanted: SpendingLimits): Promise<BudgetChange>;
  /**
   * Answers an ask once: its agent gets the answer as mail of kind `control`. `ok` is false if it was answered differently before, or its agent
   * has ended; `changed`: it is not what was shown (`AskAnswer.shown`).
   */
  answer(
    ask_id: string,
    answer: AskAnswer,
  ): Promise<{ readonly ok: true; readonly mail: Mail } | { readonly ok: false; readonly changed?: true }>;
  /** Revokes what the answer to an ask granted; false if it granted nothing, or was revoked before. */
  revoke(ask_id: string, at: number): Promise<boolean>;
  /** Carries out a call of an agent on the shared task list of its tree. Idempotent. */
  changeTasks(call: TaskCall, order: TaskOrder): Promise<TaskAnswer>;
  /** Hides the ended agents of a tree from lists for people (`/reap`); resolves to their ids. */
  reap(root_id: string, at: number): Promise<string[]>;
}

/** Reads of trees, their agents, and what belongs to them. */
export interface TreeReads {
  agent(id: string): Promise<Agent | null>;
  agents(filter: AgentFilter): Promise<Agent[]>;
  /** For followers of the ledger: cheap enough to be read every second. */
  marks(filter: MarkFilter): Promise<AgentMark[]>;
  /** Finds agents by id, unique prefix of an id (at least 4 characters), name or session key; living ones first, at most 20. `root_id`: only in this tree. */
  find(text: string, root_id?: string): Promise<Agent[]>;
  tree(root_id: string): Promise<Tree | null>;
  /** When an agent of each tree that has not ended changed last, milliseconds since the epoch. */
  changedAt(root_ids: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** The whole conversation: the ancestors' messages up to each fork point, then its own; after the seq `after`, oldest first. */
  history(agent_id: string, after?: number, limit?: number): Promise<PlacedMessage[]>;
  /** What an agent needs to go on, of each of these; of one that does not exist, nothing. */
  conversations(agent_ids: readonly string[]): Promise<ReadonlyMap<string, Conversation>>;
  /** The newest checkpoint of the conversation. */
  checkpoint(agent_id: string): Promise<Checkpoint | null>;
  /** The shared task list of a tree, by number. */
  tasks(root_id: string): Promise<ListedTask[]>;
  /** Changes of a file by calls, newest first. `path`: absolute, canonical. */
  fileChanges(path: string, limit: number): Promise<FileChange[]>;
  /** A call of an agent of the tree that has a result, by its id or the beginning of it; `seq`: of the result. Of several, the newest. */
  findCall(root_id: string, text: string): Promise<FoundCall | null>;
  /** Changes of files by calls of a tree, newest first. */
  treeChanges(root_id: string, limit: number): Promise<FileChange[]>;
  /** Unconsumed mail in order; with `all`, also consumed; with numbers above `after`. */
  mail(to_id: string, all?: boolean, after?: number, limit?: number): Promise<Mail[]>;
  /** A page of all mail of a tree, oldest first, after the mail with this id. */
  treeMail(root_id: string, after: string | undefined, limit: number): Promise<TreeLetter[]>;
  waiters(agent_id: string): Promise<string[]>;
  /** Model requests, oldest first, after a place. */
  requests(agent_id: string, after?: number, limit?: number): Promise<PlacedRequest[]>;
  /** The newest `limit`, oldest first. */
  newestRequests(agent_id: string, limit: number): Promise<PlacedRequest[]>;
  requestCount(agent_id: string): Promise<number>;
  /**
   * The run history, newest first. A run is created with its agent (`NewAgent.run`), `queued` until the agent's first turn begins, and closed in the
   * transaction that ends the agent.
   */
  runs(filter: RunFilter): Promise<Run[]>;
  /** Finds runs by id, unique prefix of an id (at least 4 characters), or session key; newest first, at most 20. */
  findRuns(text: string): Promise<Run[]>;
  /** Oldest first; `open`: only unanswered ones; `after`: the id of the one before. `root_ids`, without the other two: of these trees. */
  asks(filter: {
    readonly root_id?: string | undefined;
    readonly root_ids?: readonly string[];
    readonly agent_id?: string;
    readonly open?: boolean;
    readonly after?: string | undefined;
    readonly limit?: number | undefined;
  }): Promise<Ask[]>;
  /** All open ones, oldest first, in a form that is cheap to read often. */
  askMarks(): Promise<AskMark[]>;
  /** How many are open, of a tree or of all. */
  openAsks(root_id?: string): Promise<number>;
  /** Questions whose answers grant a rule that was not revoked, oldest first; also those of ended agents and turns. */
  grants(filter: { readonly root_id?: string }): Promise<Ask[]>;
  /** Finds asks by id or unique prefix of an id (at least 4 characters); newest first, at most 20. */
  findAsks(text: string): Promise<Ask[]>;
}

/** Leases: which worker leads which agents. */
export interface Leases {
  /** Registers the worker, or renews its lease. Resolves to false if the lease had run out, so that others may have claimed its agents. */
  heartbeat(worker: Worker): Promise<boolean>;
  /** Gives up all leases of the worker and removes it. */
  release(worker_id: string): Promise<void>;
  /**
   * Leases to `worker` every living agent of the tree without a living worker: none, one whose lease has run out, or one of the same host whose process no
   * longer exists. Their epochs rise. Returns them as they are then.
   */
  claim(root_id: string, worker: Worker): Promise<Agent[]>;
  /** By agent of the tree, for how long it has needed a leader and had none (ms): 0 or less for one that has a leader, or is parked. */
  unledFor(root_id: string): Promise<ReadonlyMap<string, number>>;
  /**
   * Served trees with an agent that needs a leader now: one at work, or at rest with mail, without a living worker; not those in which all work is parked and
   * not yet due (`releaseTree`). `labels`: those of the worker that asks.
   */
  unledTrees(limit: number, labels?: readonly string[]): Promise<string[]>;
  /** Those of these trees in which an agent has something to do (a turn, or mail), and none is led by one of these workers. */
  leftAlone(root_ids: readonly string[], workers: readonly Worker[]): Promise<string[]>;
  /** Agents of served trees without a leader whose requests wait until a time that has not come. */
  parkedRequests(limit: number): Promise<Agent[]>;
  /** Labels that a worker needs to lead this served tree by itself; null if there is no such tree, or it is not served. */
  placement(root_id: string): Promise<readonly string[] | null>;
  serveTree(root_id: string): Promise<void>;
  /**
   * Gives up the worker's leases of one tree. `parked`: agents at work that need no leader until that time (milliseconds since the epoch; `Infinity`: without
   * limit), unless mail arrives or an agent that they wait for settles; a signal of either that the worker has not read counts.
   */
  releaseTree(root_id: string, worker_id: string, parked?: ReadonlyMap<string, number>): Promise<void>;
  /** Reads and removes the signals for this worker. */
  signals(worker_id: string): Promise<Signal[]>;
  /** Workers whose lease has not run out. */
  workers(): Promise<KnownWorker[]>;
  /** How many agents each of these workers leads. */
  ledBy(worker_ids: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Tells a worker to take no more trees and to exit. Resolves to false if there is no such worker. */
  drainWorker(worker_id: string): Promise<boolean>;
}

/** Full text of all conversations. The index is built by whoever searches, so that agents never wait for it; it goes with the conversations. */
export interface SearchLedger {
  /** Indexes what was written since the last search, for at most about `limit_ms`; resolves to whether that is all. */
  indexMessages(limit_ms: number): Promise<boolean>;
  /** Indexed messages with all these phrases, newest first; the last word of a phrase may go on. `before`: a place, `TIME,AGENT:SEQ`. */
  search(
    phrases: readonly (readonly string[])[],
    before: string | undefined,
    limit: number,
  ): Promise<FoundMessage[]>;
}

/**
 * The ledger: what is not committed did not happen. The contract, for every adapter:
 * - Every method that writes is one transaction and durable when its promise resolves.
 * - `commit` takes many steps at once (group commit): a refused step changes nothing and does not affect the others; steps apply in the order given, so a
 *   later step sees what an earlier one wrote.
 * - Errors of the database itself reject with a `StoreError`; every call is idempotent and may then be retried (docs/ledger.md, "When PostgreSQL goes away").
 *   A retried step that had been applied is refused as `stale`.
 * - Reads see every step whose promise has resolved.
 * - Text is stored unchanged, any Unicode; callers have replaced NUL and lone surrogates.
 */
export interface Store
  extends TreeWrites,
    TreeReads,
    Leases,
    CronLedger,
    OutboxLedger,
    RetentionLedger,
    LoadReads,
    CutLedger,
    SearchLedger {
  readonly kind: 'sqlite' | 'postgres';
  /** Address for people and logs, without passwords. */
  readonly location: string;
  /** Aborted, with a `StoreError` (`E_DB_GONE`) as reason, when the file of the ledger was taken away under this process (docs/ledger.md). */
  readonly gone: AbortSignal;
  /** Looks now whether the file is still there; throws that `StoreError` if not. Must precede every "nothing is lost". */
  assertThere(): void;
  /**
   * Calls `wake` soon after another process wrote something for this worker. Only a hint: it may come twice, too often or not at all. Resolves to a function
   * that stops listening.
   */
  listen(worker_id: string, wake: () => void): Promise<() => Promise<void>>;
  /** The database's clock, milliseconds since the epoch. */
  now(): Promise<number>;
  /** Rejects, when all is closed, if the file is gone. */
  close(): Promise<void>;
}
