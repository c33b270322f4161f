import { hostname } from 'node:os';
import { duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { shortIds } from '../../render/short-ids.ts';
import { tableLines } from '../../render/table.ts';
import { isProcessGone } from '../../store/process-gone.ts';
import type { KnownWorker } from '../../store/store.ts';
import { printJson } from '../agents/agent-json.ts';
import { type Context, withStore } from '../setup/context.ts';

const HEAD = ['WORKER', 'ROLE', 'HOST', 'PID', 'AGENTS', 'UP', 'STATE', 'LABELS'] as const;

/** `gone`: its process ended without a word; its agents are free for others already. */
function stateOf(worker: KnownWorker): 'works' | 'draining' | 'gone' {
  if (isProcessGone(worker, hostname())) return 'gone';
  return worker.draining ? 'draining' : 'works';
}

/** `coppice worker list`: processes that lead agents, the oldest first. */
export function workerList(context: Context): Promise<number> {
  return withStore(context, async (store) => {
    const workers = await store.workers();
    const led = await store.ledBy(workers.map(({ id }) => id));
    if (context.json) {
      printJson({
        schema: 'coppice/workers/v1',
        workers: workers.map(({ started_at, expires_at, ...rest }) => ({
          ...rest,
          state: stateOf({ started_at, expires_at, ...rest }),
          agents: led.get(rest.id) ?? 0,
          started_at: new Date(started_at).toISOString(),
          expires_at: new Date(expires_at).toISOString(),
        })),
      });
      return 0;
    }
    if (workers.length === 0) {
      process.stdout.write('no process works on this ledger; start one: coppice worker, or coppice serve\n');
      return 0;
    }
    const now = await store.now();
    const short = shortIds(workers.map(({ id }) => id));
    const rows = workers.map((one) => [
      short.get(one.id) ?? one.id,
      one.role,
      clean(one.host),
      String(one.pid),
      String(led.get(one.id) ?? 0),
      one.started_at === 0 ? '' : duration(now - one.started_at),
      stateOf(one),
      clean(one.labels.join(', ')),
    ]);
    const table = tableLines(HEAD, rows, {
      width: context.width,
      right: new Set([3, 4, 5]),
      style: context.out,
    });
    process.stdout.write(`${table.join('\n')}\n`);
    return 0;
  });
}
