import type { ChannelLog } from '../../channels/channel.ts';
import { killAllProcessGroups } from '../../processes/process-group.ts';
import { sleep } from '../../processes/waiting.ts';
import { TreeKeeper } from '../../serve/tree-keeper.ts';
import type { Store } from '../../store/store.ts';
import { demoModels } from '../run/demo-rules.ts';
import type { LogForm, LogLevel } from '../serve/log-options.ts';
import { mayAsk } from '../serve/may-ask.ts';
import { openPatiently } from '../serve/open-patiently.ts';
import { serverLogOf } from '../serve/server-log-of.ts';
import { stopSignal } from '../serve/stop-signal.ts';
import { tellTreeTrouble } from '../serve/tell-tree-trouble.ts';
import { troubleLog } from '../serve/trouble-log.ts';
import { composeRuntime, composeTerms } from '../setup/compose.ts';
import type { Context } from '../setup/context.ts';
import { workerLabels } from './worker-labels.ts';

export interface WorkerOptions {
  readonly log?: LogForm;
  readonly logLevel: LogLevel;
  /** Seconds. */
  readonly drain: number;
  /** Trees at once. */
  readonly concurrency: number;
  readonly labels: readonly string[];
}

const DRAIN_LOOK_MS = 1_000;

/** `coppice worker`: leads served trees that nobody leads, until it is told to stop. */
export async function worker(context: Context, options: WorkerOptions): Promise<number> {
  const log = serverLogOf(context, options);
  const stop = stopSignal(log);
  const labels = workerLabels(options.labels, context.env);
  const store = await openPatiently(context, stop, log);
  if (store === null) return 0;
  const runtime = await composeRuntime(context, store, composeTerms(context), {
    extra: demoModels(false),
    role: 'worker',
    labels,
    can_ask: mayAsk,
  });
  const trouble = troubleLog(log);
  runtime.subscribe((event) => {
    if (event.type === 'ledger')
      (event.reachable ? log : trouble)(event.reachable ? 'info' : 'warn', event.text);
  });
  const keeper = new TreeKeeper({
    store,
    runtime,
    labels,
    most: options.concurrency,
    onTaken: (root_id, agents) => log('info', 'leads a tree', { root_id, agents }),
    onEnded: (root_id) => log('info', 'a tree has ended', { root_id }),
    onTrouble: (error, root_id) => tellTreeTrouble(trouble, error, root_id),
  });
  keeper.start();
  log('info', 'coppice works', { ledger: store.location, worker: runtime.worker_id, labels });
  const told = new AbortController();
  await Promise.race([stop, drained(store, runtime.worker_id, told.signal, log)]);
  told.abort();
  if (!(await keeper.drain(options.drain * 1_000)))
    log('warn', 'turns under way are left in the ledger; another worker goes on with them');
  await keeper.stop();
  await runtime.close();
  killAllProcessGroups();
  await store.close();
  log('info', 'stopped; nothing is lost');
  return 0;
}

/** Resolves when somebody said `coppice worker drain`. */
async function drained(store: Store, id: string, signal: AbortSignal, log: ChannelLog): Promise<void> {
  while (!signal.aborted) {
    await sleep(DRAIN_LOOK_MS, signal);
    const workers = await store.workers().catch(() => []);
    if (!workers.some((one) => one.id === id && one.draining)) continue;
    log('info', 'told to drain: what is under way may end');
    return;
  }
}
