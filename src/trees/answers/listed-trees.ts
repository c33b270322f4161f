import type { TreeRow } from '../../documents/shapes/agent-parts.ts';
import type { ReadSources } from '../find-agent.ts';
import { LedgerMarks } from '../ledger-marks.ts';
import { olderRoots, rowsOf } from './tree-list-rows.ts';

/** All rows are made again after this time, because some changes leave no mark. */
const ANYWAY_MS = 30_000;

/** Rows of the newest trees, cached for callers that poll: a row costs several reads, so only those of changed trees are made again. */
export class ListedTrees {
  readonly #sources: ReadSources;
  readonly #marks: LedgerMarks;
  #rows = new Map<string, TreeRow>();
  #asking: ReadonlyMap<string, string> = new Map();
  #made_at = Number.NEGATIVE_INFINITY;

  constructor(sources: ReadSources) {
    this.#sources = sources;
    // No worker id: changes by this process are read from the ledger, too.
    this.#marks = new LedgerMarks(sources.store, '');
  }

  /** The newest `limit` trees, newest first, then older ones that wait for an approval, up to 500. */
  async rows(limit: number): Promise<readonly TreeRow[]> {
    const { store } = this.#sources;
    // Before the rows are read, so that changes in between are noticed the next time.
    const { changed, vanished } = await this.#marks.look([]);
    const asking = await this.#askingNow();
    const newest = await store.agents({ roots: true, limit });
    const roots = [...newest, ...(await olderRoots(store, newest, asking.keys()))];
    const all = performance.now() - this.#made_at > ANYWAY_MS;
    const stale = new Set([...changed, ...vanished].map(({ root_id }) => root_id));
    const wanted = roots.filter(
      ({ id }) => all || stale.has(id) || !this.#rows.has(id) || this.#asking.get(id) !== asking.get(id),
    );
    const made = new Map((await rowsOf(this.#sources, wanted)).map((row) => [row.root_id, row]));
    const rows = roots.flatMap(({ id }) => made.get(id) ?? this.#rows.get(id) ?? []);
    this.#rows = new Map(rows.map((row) => [row.root_id, row]));
    this.#asking = asking;
    if (all) this.#made_at = performance.now();
    return rows;
  }

  /** Ids of the open approvals of each tree, as a string for comparison. */
  async #askingNow(): Promise<ReadonlyMap<string, string>> {
    const asking = new Map<string, string>();
    for (const { id, root_id } of await this.#sources.store.askMarks())
      asking.set(root_id, `${asking.get(root_id) ?? ''} ${id}`);
    return asking;
  }
}
