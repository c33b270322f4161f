import { duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { shortIds } from '../../render/short-ids.ts';
import { tableLines } from '../../render/table.ts';
import { ask } from '../setup/ask-server.ts';
import type { Context } from '../setup/context.ts';
import { printResult } from '../setup/output.ts';

const HEAD = ['WORKER', 'ROLE', 'HOST', 'PID', 'AGENTS', 'UP', 'STATE', 'LABELS'] as const;

/** `coppice worker list`: processes that lead agents, oldest first. */
export async function workerList(context: Context): Promise<number> {
  const document = await ask(context, (asked) => asked.workers());
  const { workers } = document;
  const short = shortIds(workers.map(({ id }) => id));
  const rows = workers.map((one) => [
    short.get(one.id) ?? one.id,
    one.role,
    clean(one.host),
    String(one.pid),
    String(one.agents),
    // Some do not know when they were started.
    Date.parse(one.started_at) === 0 ? '' : duration(Date.now() - Date.parse(one.started_at)),
    one.state,
    clean(one.labels.join(', ')),
  ]);
  const right = new Set([3, 4, 5]);
  return printResult(context, document, () =>
    workers.length === 0
      ? [context.hint('no process works on this ledger; start one: coppice worker, or coppice serve')]
      : tableLines(HEAD, rows, { width: context.width, right, style: context.out }),
  );
}

/** `coppice worker drain ID`. */
export async function workerDrain(context: Context, text: string): Promise<number> {
  const drained = await ask(context, (asked) => asked.drainWorker(text));
  const { id, host, pid } = drained;
  return printResult(context, drained, () => [`${id.slice(0, 8)} on ${clean(host)} (pid ${pid}) drains`]);
}
