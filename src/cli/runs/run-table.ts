import type { Run } from '../../records/run/run.ts';
import { duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { shortIds } from '../../render/short-ids.ts';
import { stateMark } from '../../render/state-mark.ts';
import { fit, type Style, sign } from '../../render/style.ts';
import { tableLines } from '../../render/table.ts';

const HEAD = ['RUN', 'LABEL', 'SOURCE', 'STATUS', 'TIME', 'AGE', 'TASK, OR WHY IT FAILED'] as const;

/** Runs of the history, one line each. */
export function runTable(runs: readonly Run[], width: number, now: number, style: Style): string[] {
  const short = shortIds(runs.map((run) => run.id));
  const rows = runs.map((run) => [
    short.get(run.id) ?? run.id,
    run.label === null ? sign(style, '–') : fit(clean(run.label), 24, style),
    run.source,
    stateMark(run.status, style),
    run.started_at === null
      ? sign(style, '–')
      : duration(run.duration_ms ?? Math.max(0, now - run.started_at)),
    duration(now - run.created_at),
    clean(run.error ?? run.task),
  ]);
  return tableLines(HEAD, rows, { width, right: new Set([4, 5]), style });
}
