import { CoppiceError } from '../records/coppice-error.ts';
import type { CronJob } from '../records/run/cron-job.ts';

/** Why something cannot be done with a job, and what can. */

export function nameTaken(name: string): CoppiceError {
  return new CoppiceError('E_JOB_EXISTS', `there is a scheduled job called "${name}"`, {
    hint: 'Change it with coppice cron update, or choose another name',
  });
}

export function notNow(job: CronJob): CoppiceError {
  if (job.session === 'main')
    return new CoppiceError('E_AGENT_NOT_FOUND', 'there is no main session that the event could go to', {
      hint: 'Start one: coppice, or coppice run "…"',
    });
  const why =
    job.overlap === 'skip' ? 'a run of it is at work' : 'a run of it is at work, and one waits behind it';
  return new CoppiceError('E_JOB_AT_WORK', `${job.name} was not started: ${why} (overlap ${job.overlap})`, {
    hint: `See: coppice cron runs ${job.name}; stop it with coppice subagent cancel`,
    retryable: true,
  });
}
