import type { TreeRowCounts } from '../kernel/ledger/removal.ts';
import type { RequestRecord } from '../kernel/step.ts';
import type { Agent, Tree } from '../records/agent/agent.ts';
import type { StateType } from '../records/agent/state.ts';
import type { Ask } from '../records/conversation/ask.ts';
import type { Mail } from '../records/conversation/mail.ts';
import type { PlacedMessage } from '../records/conversation/message.ts';
import type { CronFire } from '../records/run/cron-job.ts';
import type { Delivery } from '../records/run/delivery.ts';
import type { ListedTask } from '../records/run/listed-task.ts';
import type { Run } from '../records/run/run.ts';

/** Maximum roots examined in one statement. */
export const ROOTS_PER_PAGE = 500;
/** Number of newest instants of a job that are kept whatever their age. */
export const KEPT_FIRES = 1_000;

/** Criteria for old trees. */
export interface RetentionTerms {
  /** Old trees have had no activity at this time or later; milliseconds since the epoch. */
  readonly before: number;
  /** Whether trees whose root rests are included; otherwise only those whose root has ended. */
  readonly idle: boolean;
}

export interface OldTree {
  readonly root_id: string;
  /** Name and status of the root. */
  readonly name: string;
  readonly status: StateType;
  /** When the root last changed. */
  readonly last_at: number;
}

/**
 * Kinds of entries that are removed by their own age. `delivery`: delivered ones. `fire`: instants of removed jobs, and of others all but the newest
 * `KEPT_FIRES`. `run`: ended runs whose conversation is gone.
 */
export type OldKind = 'delivery' | 'fire' | 'run';

/** An entry, with its key for `removeEntries`. */
export interface OldEntry {
  readonly key: string;
  readonly entry: ArchiveEntry;
}

/**
 * Removal of old rows from the ledger. A tree is closed before its first row is removed: from then on nobody leads it, writes to it or changes it. Its rows
 * are removed in batches, so that no transaction is long; an interrupted removal is found by `closedTrees`.
 */
export interface RetentionLedger {
  /**
   * A page of trees that may be removed, oldest first: the root has ended (or rests, if `idle`), nothing happened since `before`, no agent is at work or led,
   * no living agent has unread mail, no delivery is pending, no enabled job belongs to the tree, and no other tree was cut from it. `next`: where the next page begins; null: no more.
   */
  oldTrees(
    terms: RetentionTerms,
    from: string | null,
  ): Promise<{ readonly trees: readonly OldTree[]; readonly next: string | null }>;
  treeSize(root_id: string): Promise<TreeRowCounts>;
  /** Closes those of these trees that may still be removed; resolves to their ids. */
  closeTrees(root_ids: readonly string[], terms: RetentionTerms): Promise<string[]>;
  /** Reopens closed trees of which nothing was removed yet. */
  reopenTrees(root_ids: readonly string[]): Promise<void>;
  closedTrees(limit: number): Promise<string[]>;
  treeEntries(root_id: string): AsyncIterable<ArchiveEntry>;
  /** Removes about `most` rows of a closed tree, with `runs` also those of the run history. `done`: no rows are left. */
  removeTreeRows(
    root_id: string,
    most: number,
    runs: boolean,
  ): Promise<{ readonly removed: TreeRowCounts; readonly done: boolean }>;
  /** Entries older than `before`, by key, after the key `from`. */
  oldEntries(kind: OldKind, before: number, from: string | null, limit: number): Promise<readonly OldEntry[]>;
  removeEntries(kind: OldKind, keys: readonly string[], before: number): Promise<number>;
}

/** A line of an archive (docs/retention.md). */
export type ArchiveEntry =
  | { readonly type: 'tree'; readonly tree: Tree }
  | { readonly type: 'agent'; readonly agent: Agent }
  | { readonly type: 'message'; readonly message: PlacedMessage }
  | { readonly type: 'mail'; readonly mail: Mail }
  | { readonly type: 'request'; readonly agent_id: string; readonly request: RequestRecord }
  | { readonly type: 'edge'; readonly waiter: string; readonly target: string }
  | { readonly type: 'ask'; readonly ask: Ask }
  | { readonly type: 'run'; readonly run: Run }
  | { readonly type: 'task'; readonly task: ListedTask }
  | { readonly type: 'delivery'; readonly delivery: Delivery }
  | { readonly type: 'fire'; readonly fire: CronFire };
