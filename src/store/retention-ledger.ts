import type { TreeRowCounts } from '../kernel/ledger/removal.ts';
import type { Agent, Tree } from '../records/agent/agent.ts';
import type { StateType } from '../records/agent/state.ts';
import type { Usage } from '../records/agent/usage.ts';
import type { Ask } from '../records/conversation/ask.ts';
import type { Mail } from '../records/conversation/mail.ts';
import type { PlacedMessage } from '../records/conversation/message.ts';
import type { CronFire } from '../records/run/cron-job.ts';
import type { Delivery } from '../records/run/delivery.ts';
import type { Run } from '../records/run/run.ts';

/** So many roots are looked at in one statement. */
export const ROOTS_AT_ONCE = 500;
/** Instants of a job that are kept whatever their age. */
export const KEPT_FIRES = 1_000;

/** Which trees are old. */
export interface RetentionTerms {
  /** Nothing happened in the tree at this time or later, milliseconds since the epoch. */
  readonly before: number;
  /** Also trees whose root rests; otherwise only those whose root has ended. */
  readonly idle: boolean;
}

export interface OldTree {
  readonly root_id: string;
  /** Name and status of the root. */
  readonly name: string;
  readonly status: StateType;
  /** When something happened to the root last. */
  readonly last_at: number;
}

/** What goes by its own age. `delivery`: what has arrived. `fire`: instants of jobs that are gone, and of others beyond the newest 1,000. `run`: ended runs whose conversation is gone. */
export type OldKind = 'delivery' | 'fire' | 'run';

/** One entry, with the key that `removeEntries` knows it by. */
export interface OldEntry {
  readonly key: string;
  readonly entry: ArchiveEntry;
}

/**
 * The part of the ledger that lets go of what is old. A tree is closed before its first row goes: from then on nobody leads it, writes to it or changes
 * it, and what is removed of it is removed in pieces, so that no transaction is long. A removal that was cut short is found again (`closedTrees`).
 */
export interface RetentionLedger {
  /**
   * Trees that may be removed: the root has ended (or rests, if `idle`), nothing happened since `before`, nobody leads any of it or is at work in it, no
   * letter waits for an agent that lives, nothing of it is to be delivered any more, and no enabled job belongs to it. Looks at some hundred roots at a
   * time, oldest first; `next` is where to look on, null when all were seen.
   */
  oldTrees(
    terms: RetentionTerms,
    from: string | null,
  ): Promise<{ readonly trees: readonly OldTree[]; readonly next: string | null }>;
  treeSize(root_id: string): Promise<TreeRowCounts>;
  /** Closes those of these trees that may be removed even now; resolves to which. */
  closeTrees(root_ids: readonly string[], terms: RetentionTerms): Promise<string[]>;
  /** Opens closed trees again of which nothing was removed yet. */
  reopenTrees(root_ids: readonly string[]): Promise<void>;
  closedTrees(limit: number): Promise<string[]>;
  /** Everything that the ledger holds of a tree. */
  treeEntries(root_id: string): AsyncIterable<ArchiveEntry>;
  /** Removes about `most` rows of a closed tree; `done`: it is gone. Its rows in the run history go too if `runs` says so. */
  removeTreeRows(
    root_id: string,
    most: number,
    runs: boolean,
  ): Promise<{ readonly removed: TreeRowCounts; readonly done: boolean }>;
  /** Entries from before `before`, in the order of their keys, behind the key `from`. */
  oldEntries(kind: OldKind, before: number, from: string | null, limit: number): Promise<readonly OldEntry[]>;
  /** Resolves to how many there were. */
  removeEntries(kind: OldKind, keys: readonly string[], before: number): Promise<number>;
}

/** As `RequestRecord` of the store. */
interface ArchivedRequest {
  readonly model: string;
  readonly usage: Usage;
  readonly started_at: number;
  readonly duration_ms: number;
}

/** What an archive holds of the ledger: one line of JSON each (docs/retention.md). */
export type ArchiveEntry =
  | { readonly type: 'tree'; readonly tree: Tree }
  | { readonly type: 'agent'; readonly agent: Agent }
  | { readonly type: 'message'; readonly message: PlacedMessage }
  | { readonly type: 'mail'; readonly mail: Mail }
  | { readonly type: 'request'; readonly agent_id: string; readonly request: ArchivedRequest }
  | { readonly type: 'edge'; readonly waiter: string; readonly target: string }
  | { readonly type: 'ask'; readonly ask: Ask }
  | { readonly type: 'run'; readonly run: Run }
  | { readonly type: 'delivery'; readonly delivery: Delivery }
  | { readonly type: 'fire'; readonly fire: CronFire };
