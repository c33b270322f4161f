import type { CronFire, CronJob } from '../records/run/cron-job.ts';
import type { Run } from '../records/run/run.ts';
import { isoTime } from './iso-time.ts';
import { runJson } from './run-json.ts';
import type { JobDocument, JobRunDocument } from './shapes/document-parts.ts';

/** One job in `coppice/cron-jobs/v1`. */
export function jobJson(job: CronJob): JobDocument {
  const { schedule, config } = job;
  return {
    id: job.id,
    name: job.name,
    schedule:
      schedule.type === 'cron'
        ? schedule
        : schedule.type === 'every'
          ? { type: 'every', every_seconds: schedule.every_ms / 1000 }
          : { type: 'at', at: isoTime(schedule.at) },
    task: job.task,
    session: job.session,
    session_key: job.session === 'isolated' ? `cron:${job.id}` : null,
    root_id: job.root_id,
    created_by: job.created_by,
    model: config.model,
    thinking: config.thinking,
    profile: config.profile ?? null,
    toolsets: [...config.toolsets],
    cwd: config.cwd,
    allow: [...config.permissions.cli.allow],
    deny: [...config.permissions.cli.deny],
    timeout_seconds: job.timeout_ms === null ? null : job.timeout_ms / 1000,
    deliver: [...job.deliver],
    once: job.once,
    cleanup: job.cleanup,
    overlap: job.overlap,
    enabled: job.enabled,
    next_at: isoTime(job.next_at),
    created_at: isoTime(job.created_at),
    updated_at: isoTime(job.updated_at),
  };
}

/** One instant in `coppice/cron-runs/v1`. */
export function jobRunJson({
  fire,
  run,
}: {
  readonly fire: CronFire;
  readonly run: Run | null;
}): JobRunDocument {
  return {
    instant: isoTime(fire.instant),
    manual: fire.manual,
    outcome: fire.outcome,
    missed: fire.missed,
    fired_at: isoTime(fire.fired_at),
    run: run === null ? null : runJson(run),
  };
}
