/** The store contract on any database: queries that both speak, and decisions of kernel/ledger in transactions. */

import type { SearchLedger, Store } from '../store.ts';
import { schedules } from './cron-queries.ts';
import type { Database } from './database.ts';
import { leases } from './lease-queries.ts';
import { loadReads } from './load-queries.ts';
import { outbox } from './outbox-queries.ts';
import { retention } from './retention-queries.ts';
import { treeReads } from './tree-reads.ts';
import { treeWrites } from './tree-writes.ts';

export function openLedger(db: Database): Store {
  // Imported on first use: most processes never search.
  let search: Promise<SearchLedger> | undefined;
  const searching = () => {
    search ??= import('./search-queries.ts').then(({ searches }) => searches(db));
    return search;
  };
  return {
    kind: db.kind,
    location: db.location,
    gone: db.file?.gone ?? new AbortController().signal,
    assertThere: () => db.file?.check(),
    ...treeWrites(db),
    ...treeReads(db),
    ...leases(db),
    ...schedules(db),
    ...outbox(db),
    ...retention(db),
    ...loadReads(db),
    indexMessages: async (limit_ms) => (await searching()).indexMessages(limit_ms),
    search: async (...query) => (await searching()).search(...query),
    // Loaded by the first cut: most commands make none.
    cutFacts: async (...given) => (await import('./past/cut-queries.ts')).cuts(db).cutFacts(...given),
    enterCut: async (cut) => (await import('./past/cut-queries.ts')).cuts(db).enterCut(cut),
    listen: (worker_id, wake) => db.listen(worker_id, wake),
    now: () => db.now(),
    close: () => db.close(),
  };
}
