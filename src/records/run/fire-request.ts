import type { Limits } from '../agent/limits.ts';
import type { NewMail } from '../conversation/mail.ts';
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

export interface FireRequest {
  readonly job_id: string;
  /** Version of the job that this request was computed from; if it has changed, the request is stale. */
  readonly version: number;
  readonly next_at: number | null;
  /** The scheduled instant; for a manual fire, database time. */
  readonly instant: number;
  readonly manual: boolean;
  /** Whether this starts an instant that was queued behind the previous run. */
  readonly waited: boolean;
  readonly missed: number;
  /** The next instant; null for none. A manual fire does not change it. */
  readonly then_at: number | null;
  /** Whether to disable the job after this instant. */
  readonly disable: boolean;
  readonly overlap: 'skip' | 'queue';
  readonly at: number;
  readonly begin: FireBegin;
}

/** `stale`: the job is gone or changed, or the instant was fired already; compute the request again. */
export type FireVerdict = { readonly outcome: 'fired' | 'queued' | 'skipped' | 'stale' };
