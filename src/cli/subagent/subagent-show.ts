import { isoTime } from '../../documents/iso-time.ts';
import { findRun, runJson } from '../../documents/run-json.ts';
import type { Run } from '../../records/run/run.ts';
import { duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { stateMark } from '../../render/state-mark.ts';
import { sign } from '../../render/style.ts';
import { type Context, withStore } from '../setup/context.ts';
import { type Detail, detailLines, printJson, printLines, printSection } from '../setup/output.ts';

/** `coppice subagent show RUN`: one row of the history in full. */
export function subagentShow(context: Context, text: string): Promise<number> {
  return withStore(context, async (store) => {
    const run = await findRun(store, text);
    if (context.json) {
      printJson({ schema: 'coppice/subagent-run/v1', ...runJson(run) });
      return 0;
    }
    const agent = await store.agent(run.agent_id);
    const none = sign(context.out, '–');
    const rows: readonly Detail[] = [
      ['run', run.id],
      ['label', run.label === null ? none : clean(run.label)],
      ['status', stateMark(run.status, context.out)],
      ['source', run.source],
      ['session', run.session_key],
      ['agent', agent === null ? `${run.agent_id} (deleted)` : run.agent_id],
      ['requester', run.requester_key],
      ['model', `${run.model}, thinking ${run.thinking}`],
      ['timeout', run.timeout_ms === null ? none : duration(run.timeout_ms)],
      ['cleanup', run.cleanup],
      ['deliver', run.deliver.join(', ') || none],
      ['created', isoTime(run.created_at) ?? none],
      ['started', isoTime(run.started_at) ?? none],
      ['finished', isoTime(run.finished_at) ?? none],
      ['duration', durationOf(run) ?? none],
    ];
    printLines(detailLines(rows, context.out));
    printSection(context, 'task', run.task);
    printSection(context, 'error', run.error);
    printSection(context, 'result', run.result);
    return 0;
  });
}

/** Short ones in milliseconds; that of a running one up to now. */
function durationOf({ started_at, duration_ms }: Run): string | null {
  if (started_at === null) return null;
  if (duration_ms === null) return `${duration(Date.now() - started_at)} so far`;
  return duration_ms < 10_000 ? `${duration_ms} ms` : duration(duration_ms);
}
