import type { ChannelLog } from '../../channels/channel.ts';
import { sleep } from '../../processes/waiting.ts';
import type { Store } from '../../store/store.ts';
import { workerLabels } from '../../trees/leaders/placement.ts';
import { TreeKeeper } from '../../trees/leaders/tree-keeper.ts';
import { composeTerms } from '../setup/compose-config.ts';
import { composeRuntime } from '../setup/compose-runtime.ts';
import type { Context } from '../setup/context.ts';
import { demoModels } from '../setup/demo-rules.ts';
import type { LogOptions } from './log-options.ts';
import {
  closeLongRunning,
  logEvents,
  logTreeTrouble,
  mayAsk,
  openWithRetry,
  stopped,
  withoutRepeats,
} from './long-running.ts';
import { serverLogOf } from './server-log.ts';

interface WorkerOptions extends LogOptions {
  /** Seconds. */
  readonly drain: number;
  /** Maximum trees at once. */
  readonly concurrency: number;
  readonly labels: readonly string[];
}

const DRAIN_POLL_MS = 1_000;

/** `coppice worker`: leads served trees that nobody leads, until it is told to stop. */
export async function worker(context: Context, options: WorkerOptions): Promise<number> {
  const log = serverLogOf(context, options);
  const stop = stopped(log);
  const labels = workerLabels(options.labels, context.env);
  const store = await openWithRetry(context, stop, log);
  if (store === null) return 0;
  const runtime = await composeRuntime(context, store, composeTerms(context), {
    extra: demoModels(false),
    role: 'worker',
    labels,
    can_ask: mayAsk,
  });
  const trouble = withoutRepeats(log);
  logEvents(runtime, log, trouble);
  const keeper = new TreeKeeper({
    store,
    runtime,
    labels,
    most: options.concurrency,
    onTaken: (root_id, agents) => log('info', 'leads a tree', { root_id, agents }),
    onEnded: (root_id) => log('info', 'a tree has ended', { root_id }),
    onTrouble: (error, root_id) => logTreeTrouble(trouble, error, root_id),
  });
  keeper.wake();
  log('info', 'coppice works', { ledger: store.location, worker: runtime.worker_id, labels });
  const ending = new AbortController();
  await Promise.race([stop, drainRequested(store, runtime.worker_id, ending.signal, log)]);
  ending.abort();
  if (!(await keeper.drain(options.drain * 1_000)))
    log('warn', 'running turns stay in the ledger; another worker continues them');
  await keeper.stop();
  await closeLongRunning(runtime, store, log);
  return 0;
}

/** Resolves after `coppice worker drain`. */
async function drainRequested(store: Store, id: string, signal: AbortSignal, log: ChannelLog): Promise<void> {
  while (!signal.aborted) {
    await sleep(DRAIN_POLL_MS, signal);
    const workers = await store.workers().catch(() => []);
    if (!workers.some((one) => one.id === id && one.draining)) continue;
    log('info', 'draining: waiting for running work');
    return;
  }
}
