import { CoppiceError } from '../../records/coppice-error.ts';
import type { KnownWorker } from '../../store/store.ts';
import { printJson } from '../agents/agent-json.ts';
import { type Context, withStore } from '../setup/context.ts';

/** `coppice worker drain ID`: it takes nothing more, lets its turns end, and stops. */
export function workerDrain(context: Context, text: string): Promise<number> {
  return withStore(context, async (store) => {
    const one = found(await store.workers(), text);
    await store.drainWorker(one.id);
    if (context.json) printJson({ schema: 'coppice/worker-drained/v1', id: one.id });
    else process.stdout.write(`${one.id.slice(0, 8)} on ${one.host} (pid ${one.pid}) drains\n`);
    return 0;
  });
}

function found(workers: readonly KnownWorker[], text: string): KnownWorker {
  const fitting = workers.filter(({ id, role }) => role === 'worker' && id.startsWith(text.toLowerCase()));
  const [only] = fitting;
  if (only !== undefined && fitting.length === 1) return only;
  const what = fitting.length === 0 ? `no worker "${text}"` : `"${text}" matches ${fitting.length} workers`;
  throw new CoppiceError('E_WORKER_NOT_FOUND', what, { hint: 'See: coppice worker list' });
}
