import { workersJson } from '../../documents/worker-json.ts';
import { duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { shortIds } from '../../render/short-ids.ts';
import { tableLines } from '../../render/table.ts';
import { findWorker } from '../../serve/api/find-rows.ts';
import { type Context, fromEither } from '../setup/context.ts';
import { printJson, printLines } from '../setup/output.ts';

const HEAD = ['WORKER', 'ROLE', 'HOST', 'PID', 'AGENTS', 'UP', 'STATE', 'LABELS'] as const;

/** `coppice worker list`: processes that lead agents, oldest first. */
export async function workerList(context: Context): Promise<number> {
  const { workers, now } = await fromEither(
    context,
    async (store) => ({ workers: await workersJson(store), now: await store.now() }),
    async (client) => ({ ...(await client.workers()), now: Date.now() }),
  );
  if (context.json) {
    printJson({ schema: 'coppice/workers/v1', workers });
    return 0;
  }
  if (workers.length === 0) {
    printLines(['no process works on this ledger; start one: coppice worker, or coppice serve']);
    return 0;
  }
  const short = shortIds(workers.map(({ id }) => id));
  const rows = workers.map((one) => [
    short.get(one.id) ?? one.id,
    one.role,
    clean(one.host),
    String(one.pid),
    String(one.agents),
    upTime(Date.parse(one.started_at), now),
    one.state,
    clean(one.labels.join(', ')),
  ]);
  const right = new Set([3, 4, 5]);
  printLines(tableLines(HEAD, rows, { width: context.width, right, style: context.out }));
  return 0;
}

/** Empty where the start is not known. */
function upTime(started_at: number, now: number): string {
  return started_at === 0 ? '' : duration(now - started_at);
}

/** `coppice worker drain ID`. */
export async function workerDrain(context: Context, text: string): Promise<number> {
  const { id, host, pid } = await fromEither(
    context,
    async (store) => {
      const one = findWorker(await store.workers(), text);
      await store.drainWorker(one.id);
      const { id, host, pid } = one;
      return { id, host, pid };
    },
    (client) => client.drainWorker(text),
  );
  if (context.json) printJson({ schema: 'coppice/worker-drained/v1', id, host, pid });
  else printLines([`${id.slice(0, 8)} on ${clean(host)} (pid ${pid}) drains`]);
  return 0;
}
