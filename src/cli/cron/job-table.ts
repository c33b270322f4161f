import { wallText } from '../../cron/schedule/describe-schedule.ts';
import type { JobDocument, JobRunDocument, RunDocument } from '../../documents/shapes/document-parts.ts';
import { resultLine } from '../../records/conversation/child-text.ts';
import { shownWord } from '../../records/run/outcome.ts';
import { duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { shortIds } from '../../render/short-ids.ts';
import { stateMark } from '../../render/state-mark.ts';
import { paint, type Style, sign } from '../../render/style.ts';
import { tableLines } from '../../render/table.ts';
import { scheduleText, zoneOf } from './job-line.ts';

const JOBS = ['NAME', 'SCHEDULE', 'NEXT', 'LAST', 'TASK'] as const;
const RUNS = ['INSTANT', 'BY', 'STATUS', 'TIME', 'RUN', 'RESULT, OR WHY NOT'] as const;

/** Jobs, one line each, with the outcome of their newest instant. */
export function jobTable(
  jobs: readonly JobDocument[],
  newest: readonly (JobRunDocument | undefined)[],
  width: number,
  style: Style,
): string[] {
  const rows = jobs.map((job, at) => [
    clean(job.name),
    scheduleText(job),
    job.enabled && job.next_at !== null
      ? wallText(Date.parse(job.next_at), zoneOf(job))
      : paint(style, 'dim', 'disabled'),
    outcomeMark(newest[at], style),
    clean(job.task),
  ]);
  return tableLines(JOBS, rows, { width, style, most: [24] });
}

/** Instants of one job, one line each. */
export function jobRunTable(
  job: JobDocument,
  runs: readonly JobRunDocument[],
  width: number,
  style: Style,
): string[] {
  const tz = zoneOf(job);
  const short = shortIds(runs.flatMap(({ run }) => run?.id ?? []));
  const rows = runs.map((one) => {
    const { instant, manual, run } = one;
    return [
      wallText(Date.parse(instant), tz),
      manual ? 'hand' : 'timer',
      outcomeMark(one, style),
      run?.started_at == null
        ? sign(style, '–')
        : duration(run.duration_ms ?? Date.now() - Date.parse(run.started_at)),
      run === null ? sign(style, '–') : (short.get(run.id) ?? run.id),
      clean(`${run === null ? whyNoRun(one, job) : runResultCell(run)}${missedText(one)}`),
    ];
  });
  return tableLines(RUNS, rows, { width, right: new Set([3]), style });
}

function runResultCell({ outcome, outcome_text, status, result }: RunDocument): string {
  return status === 'completed' || result !== null
    ? resultLine(result ?? '', outcome_text === outcome ? null : outcome_text)
    : outcome_text;
}

function outcomeMark(fired: JobRunDocument | undefined, style: Style): string {
  if (fired === undefined) return sign(style, '–');
  if (fired.run !== null) return stateMark(shownWord(fired.run.status, fired.run.outcome), style);
  return fired.outcome === 'fired' ? 'sent' : fired.outcome;
}

function whyNoRun({ outcome }: JobRunDocument, { session }: JobDocument): string {
  if (outcome === 'queued') return 'starts when the previous run has ended';
  if (outcome !== 'skipped') return '';
  return session === 'main' ? 'there was no main session' : 'the previous run was still working';
}

function missedText({ missed }: JobRunDocument): string {
  return missed === 0 ? '' : ` (makes up for ${missed} missed)`;
}
