import type { Limits } from '../agent/limits.ts';
import type { NewAgent } from '../agent/new-agent.ts';
import type { NewMail } from '../conversation/mail.ts';

/** What an instant leads to. */
export type FireBegin =
  /** An isolated run: a tree of its own whose root rests until its turn comes; `letter` is its task. Nobody leads it yet. */
  | {
      readonly type: 'run';
      readonly root: NewAgent;
      readonly limits: Limits;
      /** Labels that a server must have to lead it. */
      readonly placement: readonly string[];
      readonly letter: NewMail;
    }
  /** A system event into a session that is there. */
  | { readonly type: 'event'; readonly mail: NewMail };

export interface FireRequest {
  readonly job_id: string;
  /** As the job was when this was worked out; otherwise it is worked out anew. */
  readonly version: number;
  readonly next_at: number | null;
  /** The instant of the schedule; for a manual one the database's clock. */
  readonly instant: number;
  readonly manual: boolean;
  /** Begins the instant that waited for the run before (`queued`). */
  readonly waited: boolean;
  readonly missed: number;
  /** The instant after this one; null: none. A manual fire leaves it as it is. */
  readonly then_at: number | null;
  /** The job ends with this instant. */
  readonly disable: boolean;
  readonly overlap: 'skip' | 'queue';
  readonly at: number;
  readonly begin: FireBegin;
}

/** `stale`: the job is gone, was changed, or this instant was fired already: look again. */
export type FireVerdict = { readonly outcome: 'fired' | 'queued' | 'skipped' | 'stale' };
