import { StatementSync } from 'node:sqlite';
import { isWorking } from '../../src/records/agent/state.ts';
import { openRuntime } from '../../src/runtime/open-runtime.ts';
import { openStore } from '../../src/store/open-store.ts';
import { TreeKeeper } from '../../src/trees/leaders/tree-keeper.ts';
import { benchModel } from './bench-model.ts';
import type { WorkerNote } from './worker-process.ts';

/**
 * A worker process like `coppice worker`, with the same runtime, tree keeper and number of places, and a scripted model. Reports to its parent when an
 * agent comes to rest and, on request, what it has used.
 */
const PLACES = 50;

let statements = 0;
for (const name of ['get', 'all', 'run'] as const) {
  const execute = StatementSync.prototype[name] as (...values: unknown[]) => unknown;
  StatementSync.prototype[name] = function (this: StatementSync, ...values: unknown[]) {
    statements += 1;
    return execute.apply(this, values);
  } as never;
}

const tell = (note: WorkerNote) => process.send?.(note);
const store = await openStore(process.argv[2] as string);
const runtime = await openRuntime({
  store,
  openModel: async () => benchModel(),
  tools: [],
  spill_dir: process.cwd(),
  env_allow: [],
  role: 'worker',
});
const working = new Set<string>();
runtime.subscribe((event) => {
  if (event.type !== 'agent') return;
  const { id, state } = event.agent;
  if (isWorking(state.type)) working.add(id);
  else if (working.delete(id)) tell({ type: 'rests', id, at: Date.now() });
});
const keeper = new TreeKeeper({
  store,
  runtime,
  most: PLACES,
  onEnded: () => undefined,
  onTrouble: (error) => {
    throw error;
  },
});
process.on('message', async (order) => {
  if (order === 'used') {
    const { user, system } = process.cpuUsage();
    const memory_mb = process.memoryUsage.rss() / 1e6;
    tell({ type: 'used', cpu_ms: (user + system) / 1_000, statements, memory_mb });
    return;
  }
  await keeper.stop();
  await runtime.close();
  await store.close();
  process.disconnect();
});
keeper.wake();
tell({ type: 'works' });
