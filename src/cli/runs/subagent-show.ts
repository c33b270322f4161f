import type { Run } from '../../records/run/run.ts';
import { duration } from '../../render/amounts.ts';
import { clean, cleanLines } from '../../render/clean.ts';
import { stateMark } from '../../render/state-mark.ts';
import { paint, sign } from '../../render/style.ts';
import { printJson } from '../agents/agent-json.ts';
import { detailLines } from '../agents/details.ts';
import { type Context, withStore } from '../setup/context.ts';
import { findRun } from './find-run.ts';
import { runJson } from './run-json.ts';

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
    const rows: readonly (readonly [string, string])[] = [
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
      ['created', new Date(run.created_at).toISOString()],
      ['started', run.started_at === null ? none : new Date(run.started_at).toISOString()],
      ['finished', run.finished_at === null ? none : new Date(run.finished_at).toISOString()],
      ['duration', durationOf(run) ?? none],
    ];
    process.stdout.write(`${detailLines(rows, context.out).join('\n')}\n`);
    const texts = [
      ['task', run.task],
      ['error', run.error],
      ['result', run.result],
    ] as const;
    for (const [title, body] of texts)
      if (body !== null && body !== '')
        process.stdout.write(`\n${paint(context.out, 'dim', title)}\n${cleanLines(body)}\n`);
    return 0;
  });
}

/** Short ones to the millisecond, long ones as a clock; of a run at work, how long it has been. */
function durationOf({ started_at, duration_ms }: Run): string | null {
  if (started_at === null) return null;
  if (duration_ms === null) return `${duration(Date.now() - started_at)} so far`;
  return duration_ms < 10_000 ? `${duration_ms} ms` : duration(duration_ms);
}
