import type { Limits } from '../agent/limits.ts';
import type { NewMail } from '../conversation/mail.ts';
import type { CronFire, CronJob, FireOutcome } from './cron-job.ts';
import type { NewAgent } from './new-agent.ts';

/** The run or event that a due instant starts. */
export type FireBegin =
  /** An isolated run: a new tree, not led yet, whose root rests until its turn in the queue; `mail` is its task. */
  | {
      readonly type: 'run';
      readonly root: NewAgent;
      readonly limits: Limits;
      /** Labels that a server needs to lead it. */
      readonly placement: readonly string[];
      readonly mail: NewMail;
    }
  /** A system event to an existing session. */
  | { readonly type: 'event'; readonly mail: NewMail };

/** `version` is that of the job from which it was computed; if it has changed, the request is stale. */
export interface FireRequest
  extends Pick<CronFire, 'job_id' | 'instant' | 'manual' | 'missed'>,
    Pick<CronJob, 'version' | 'next_at' | 'overlap'> {
  /** Whether this starts an instant that was queued behind the previous run. */
  readonly waited: boolean;
  /** The next instant; null for none. A manual fire does not change it. */
  readonly then_at: number | null;
  /** Whether to disable the job after this instant. */
  readonly disable: boolean;
  readonly at: number;
  readonly begin: FireBegin;
}

/** `stale`: the job is gone or changed, or the instant was fired already; compute the request again. */
export type FireVerdict = { readonly outcome: FireOutcome | 'stale' };
