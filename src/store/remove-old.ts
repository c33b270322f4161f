import type { TreeRowCounts } from '../kernel/ledger/removal.ts';
import type { ArchiveEntry, OldKind, OldTree, RetentionTerms } from './retention-ledger.ts';
import type { Store } from './store.ts';

/** Maximum trees closed at a time, rows removed in one transaction, and entries read at a time. */
const TREE_BATCH = 50;
const ROW_BATCH = 2_000;
const ENTRY_BATCH = 500;

/** Stores what is removed. When `settle` resolves, everything written before is on disk. */
export interface Archive {
  write(entry: ArchiveEntry): Promise<void>;
  settle(): Promise<void>;
}

export interface RemovalOptions {
  readonly terms: RetentionTerms;
  /** Whether rows of the run history are removed, too. */
  readonly runs: boolean;
  /** Only counts what would be removed. */
  readonly dry_run: boolean;
  readonly archive: Archive | null;
  /** Called before the rows of these trees are removed, when they are closed and archived; in a dry run, too. */
  readonly onTrees?: (root_ids: readonly string[]) => Promise<void>;
}

export type RemovedRows = TreeRowCounts & {
  readonly trees: number;
  readonly deliveries: number;
  readonly fires: number;
};

export interface Removal {
  /** Old trees, oldest first. */
  readonly trees: readonly OldTree[];
  /** Number of trees whose removal an earlier call had begun; counted in `rows`, too. */
  readonly resumed: number;
  readonly rows: RemovedRows;
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/**
 * Removes what is old, in transactions of bounded size: trees first, then deliveries, instants and runs. Each tree is closed, archived, then removed; one that
 * cannot be archived is reopened. The next call continues an interrupted removal.
 */
export async function removeOld(store: Store, options: RemovalOptions): Promise<Removal> {
  const rows = {
    ...{ trees: 0, agents: 0, messages: 0, mail: 0, requests: 0, asks: 0, runs: 0 },
    ...{ deliveries: 0, fires: 0 },
  };
  const trees: OldTree[] = [];
  const resumed = await removeClosed(store, options, rows);
  for (let from: string | null = null, more = true; more; ) {
    const page = await store.oldTrees(options.terms, from);
    for (let at = 0; at < page.trees.length; at += TREE_BATCH)
      trees.push(...(await removeTrees(store, page.trees.slice(at, at + TREE_BATCH), options, rows)));
    from = page.next;
    more = from !== null;
  }
  rows.deliveries = await removeKind(store, 'delivery', options);
  rows.fires = await removeKind(store, 'fire', options);
  if (options.runs) rows.runs += await removeKind(store, 'run', options);
  return { trees, resumed, rows };
}

/** Finishes removals that an earlier call had begun. */
async function removeClosed(
  store: Store,
  options: RemovalOptions,
  rows: Writable<RemovedRows>,
): Promise<number> {
  if (options.dry_run) {
    const left = await store.closedTrees(Number.MAX_SAFE_INTEGER);
    await countEach(store, left, options, rows);
    return left.length;
  }
  let resumed = 0;
  for (;;) {
    const closed = await store.closedTrees(TREE_BATCH);
    if (closed.length === 0) return resumed;
    await removeEach(store, closed, options, rows);
    resumed += closed.length;
  }
}

async function removeTrees(
  store: Store,
  trees: readonly OldTree[],
  options: RemovalOptions,
  rows: Writable<RemovedRows>,
): Promise<readonly OldTree[]> {
  const ids = trees.map(({ root_id }) => root_id);
  if (options.dry_run) {
    await countEach(store, ids, options, rows);
    return trees;
  }
  const closed = await store.closeTrees(ids, options.terms);
  await removeEach(store, closed, options, rows);
  return trees.filter(({ root_id }) => closed.includes(root_id));
}

async function countEach(
  store: Store,
  root_ids: readonly string[],
  { runs, onTrees }: RemovalOptions,
  rows: Writable<RemovedRows>,
): Promise<void> {
  for (const root_id of root_ids) add(rows, await store.treeSize(root_id), runs);
  await onTrees?.(root_ids);
  rows.trees += root_ids.length;
}

async function removeEach(
  store: Store,
  root_ids: readonly string[],
  { archive, runs, onTrees }: RemovalOptions,
  rows: Writable<RemovedRows>,
): Promise<void> {
  try {
    if (archive !== null) await archiveTrees(store, root_ids, archive);
  } catch (error) {
    await store.reopenTrees(root_ids);
    throw error;
  }
  await onTrees?.(root_ids);
  for (const root_id of root_ids) {
    for (let done = false; !done; ) {
      const batch = await store.removeTreeRows(root_id, ROW_BATCH, runs);
      add(rows, batch.removed, true);
      done = batch.done;
    }
    rows.trees += 1;
  }
}

async function archiveTrees(store: Store, root_ids: readonly string[], archive: Archive): Promise<void> {
  for (const root_id of root_ids)
    for await (const entry of store.treeEntries(root_id)) await archive.write(entry);
  await archive.settle();
}

function add(rows: Writable<RemovedRows>, more: TreeRowCounts, with_runs: boolean): void {
  for (const name of ['agents', 'messages', 'mail', 'requests', 'asks'] as const) rows[name] += more[name];
  if (with_runs) rows.runs += more.runs;
}

async function removeKind(
  store: Store,
  kind: OldKind,
  { terms: { before }, archive, dry_run }: RemovalOptions,
): Promise<number> {
  let count = 0;
  for (let from: string | null = null; ; ) {
    const page = await store.oldEntries(kind, before, from, ENTRY_BATCH);
    const last = page.at(-1);
    if (last === undefined) return count;
    from = last.key;
    if (dry_run) {
      count += page.length;
      continue;
    }
    if (archive !== null) {
      for (const { entry } of page) await archive.write(entry);
      await archive.settle();
    }
    count += await store.removeEntries(
      kind,
      page.map(({ key }) => key),
      before,
    );
  }
}
