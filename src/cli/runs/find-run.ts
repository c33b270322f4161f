import { CoppiceError } from '../../records/coppice-error.ts';
import type { Run } from '../../records/run/run.ts';
import type { Store } from '../../store/store.ts';

/** The one run that an id, a unique prefix of one, or a session key means. */
export async function findRun(store: Store, text: string): Promise<Run> {
  const found = await store.findRuns(text);
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  if (only === undefined)
    throw new CoppiceError('E_RUN_NOT_FOUND', `no run "${text}"`, { hint: 'See: coppice subagent history' });
  const list = found.map((run) => `${run.id} (${run.label ?? run.task.slice(0, 40)}, ${run.status})`);
  throw new CoppiceError('E_RUN_AMBIGUOUS', `"${text}" matches ${found.length} runs`, {
    hint: `${list.join('\n')}\nUse a longer id.`,
  });
}
