import { findRun, runDocument } from '../../documents/run-json.ts';
import { clean } from '../../render/clean.ts';
import { cancelRun } from '../../serve/leading/cancel-run.ts';
import { type Context, fromEither } from '../setup/context.ts';
import { printJson } from '../setup/output.ts';

/** `coppice subagent cancel RUN`: the process that leads the run stops it and keeps what was done; a run that no process leads is killed. */
export async function subagentCancel(context: Context, text: string): Promise<number> {
  const run = await fromEither(
    context,
    async (store) => runDocument(store, await cancelRun(store, await findRun(store, text))),
    (client) => client.cancelRun(text),
  );
  if (context.json) printJson({ schema: 'coppice/subagent-run/v1', ...run });
  else process.stdout.write(`${run.status} ${clean(run.label ?? run.id)}\n`);
  return 0;
}
