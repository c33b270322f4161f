import { nameFault, storedName } from '../records/agent/agent-name.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import type { CronJob, NewCronJob } from '../records/run/cron-job.ts';
import { storable } from '../records/text/text.ts';

/** Validation of a job's settings, and errors for what cannot be done with a job; each is a `CoppiceError` that says what to do instead. */

const TASK_LENGTH = 100_000;
const DAY_S = 86_400;

export function checkedName(name: string): string {
  const fault = nameFault(name);
  if (fault !== null) throw new CoppiceError('E_INVALID_ARGUMENT', fault);
  return storedName(name);
}

export function checkedTask(task: string | undefined): string {
  if (task === undefined || task.trim() === '')
    throw new CoppiceError('E_INVALID_ARGUMENT', 'a job needs a task', {
      hint: 'Say what to do: task "…"',
    });
  if (task.length > TASK_LENGTH)
    throw new CoppiceError(
      'E_INVALID_ARGUMENT',
      `the task has ${task.length} characters; at most ${TASK_LENGTH} are allowed`,
      {
        hint: 'Put it into a file that the agent reads',
      },
    );
  return storable(task);
}

export function timeoutOf(seconds: number): number | null {
  if (!Number.isInteger(seconds) || seconds < 0 || seconds > DAY_S)
    throw new CoppiceError(
      'E_INVALID_ARGUMENT',
      `a timeout is a whole number of seconds from 0 (none of its own) to ${DAY_S}`,
    );
  return seconds === 0 ? null : seconds * 1000;
}

/** Throws `E_USAGE` for options that a main session would ignore. */
export function refuseIgnored({ session, deliver, cleanup, timeout_ms, config }: NewCronJob): void {
  if (session !== 'main') return;
  const named = [
    deliver.length > 0 && 'deliver',
    cleanup === 'delete' && 'cleanup',
    timeout_ms !== null && 'timeout',
    config.workflow !== undefined && 'workflow',
  ];
  const ignored = named.find((name) => name !== false);
  if (ignored === undefined) return;
  throw new CoppiceError(
    'E_USAGE',
    `${ignored} needs an isolated session: an event in the main session is answered there`,
    {
      hint: 'Leave it out, or choose session isolated',
    },
  );
}

export function nameTaken(name: string): CoppiceError {
  return new CoppiceError('E_JOB_EXISTS', `a scheduled job called "${name}" already exists`, {
    hint: 'Change it with coppice cron update, or choose another name',
  });
}

export function notStarted(job: CronJob): CoppiceError {
  if (job.session === 'main')
    return new CoppiceError('E_AGENT_NOT_FOUND', 'there is no main session for the event', {
      hint: 'It is the conversation that a person began last: choose session isolated, or begin one',
    });
  const why =
    job.overlap === 'skip'
      ? 'a run of it is in progress'
      : 'a run of it is in progress, and another one is queued';
  return new CoppiceError('E_JOB_AT_WORK', `${job.name} was not started: ${why} (overlap ${job.overlap})`, {
    hint: `See: coppice cron runs ${job.name}; stop it with coppice subagent cancel`,
    retryable: true,
  });
}
