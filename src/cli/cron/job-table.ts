import type { JobRun } from '../../cron/job-runs.ts';
import { describeSchedule, localZone, wallText, zoneOf } from '../../cron/schedule/describe-schedule.ts';
import { shortly } from '../../records/conversation/child-text.ts';
import type { CronFire, CronJob } from '../../records/run/cron-job.ts';
import type { Run } from '../../records/run/run.ts';
import { duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { shortIds } from '../../render/short-ids.ts';
import { stateMark } from '../../render/state-mark.ts';
import { fit, paint, type Style, sign } from '../../render/style.ts';
import { tableLines } from '../../render/table.ts';

const JOBS = ['NAME', 'SCHEDULE', 'NEXT', 'LAST', 'TASK'] as const;
const RUNS = ['INSTANT', 'BY', 'STATUS', 'TIME', 'RUN', 'RESULT, OR WHY NOT'] as const;
const NAME_COLUMNS = 24;

/** Jobs, one line each, with the outcome of their newest instant. */
export function jobTable(
  jobs: readonly CronJob[],
  newest: readonly { readonly fire: CronFire | null; readonly run: Run | null }[],
  width: number,
  style: Style,
): string[] {
  const tz = localZone();
  const rows = jobs.map((job, at) => [
    fit(clean(job.name), NAME_COLUMNS, style),
    describeSchedule(job.schedule, tz),
    job.enabled && job.next_at !== null
      ? wallText(job.next_at, zoneOf(job))
      : paint(style, 'dim', 'disabled'),
    outcomeMark(newest[at]?.fire ?? null, newest[at]?.run ?? null, style),
    clean(job.task),
  ]);
  return tableLines(JOBS, rows, { width, style });
}

/** Instants of one job, one line each. */
export function jobRunTable(job: CronJob, runs: readonly JobRun[], width: number, style: Style): string[] {
  const tz = zoneOf(job);
  const short = shortIds(runs.flatMap(({ run }) => run?.id ?? []));
  const rows = runs.map(({ fire, run }) => [
    wallText(fire.instant, tz),
    fire.manual ? 'hand' : 'timer',
    outcomeMark(fire, run, style),
    run?.started_at == null ? sign(style, '–') : duration(run.duration_ms ?? Date.now() - run.started_at),
    run === null ? sign(style, '–') : (short.get(run.id) ?? run.id),
    clean(`${run === null ? whyNoRun(fire, job) : resultOf(run)}${missedText(fire)}`),
  ]);
  return tableLines(RUNS, rows, { width, right: new Set([3]), style });
}

function resultOf({ status, result, error }: Run): string {
  return status === 'completed' ? shortly(result ?? '', error) : (error ?? result ?? '');
}

function outcomeMark(fire: CronFire | null, run: Run | null, style: Style): string {
  if (run !== null) return stateMark(run.status, style);
  if (fire === null) return sign(style, '–');
  return fire.outcome === 'fired' ? 'told' : fire.outcome;
}

function whyNoRun({ outcome }: CronFire, { session }: CronJob): string {
  if (outcome === 'queued') return 'begins when the run before has ended';
  if (outcome !== 'skipped') return '';
  return session === 'main' ? 'there was no main session' : 'the run before was still at work';
}

function missedText({ missed }: CronFire): string {
  return missed === 0 ? '' : ` (makes up for ${missed} missed)`;
}
