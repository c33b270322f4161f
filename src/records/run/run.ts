import type { OutcomeWord } from './outcome.ts';

/** Origin of an isolated run. */
export type RunSource = 'cron' | 'subagent' | 'delegate';

export type RunStatus = 'queued' | 'running' | 'completed' | 'failed' | 'timeout' | 'cancelled';

/** One isolated execution of a task; added to the history when its agent is created. */
export interface NewRun {
  readonly id: string;
  readonly source: RunSource;
  /** `agent:<profile>:subagent:<uuid>`, `cron:<job id>` … */
  readonly session_key: string;
  readonly requester_id: string | null;
  readonly requester_key: string;
  readonly task: string;
  readonly label: string | null;
  readonly model: string;
  readonly thinking: string;
  /** Null: no limit of its own, only the tree's limit for a turn applies. */
  readonly timeout_ms: number | null;
  readonly cleanup: 'delete' | 'keep';
  /** Outbox targets that its end is delivered to (`delivery.ts`). */
  readonly deliver: readonly string[];
  /** The scheduled job that started it; null for runs that an agent requested. */
  readonly job_id: string | null;
}

/** One row of the run history; kept when the agent's conversation is deleted. */
export interface Run extends NewRun {
  readonly root_id: string;
  readonly agent_id: string;
  readonly status: RunStatus;
  readonly result: string | null;
  /** Why it failed; for a completed run, the limit that cut it short. */
  readonly error: string | null;
  /** How it ended (`outcome.ts`); null before that, and in rows of older versions. */
  readonly outcome: OutcomeWord | null;
  readonly outcome_text: string | null;
  /** Milliseconds since the epoch, as are the next two. */
  readonly created_at: number;
  /** Null while queued. */
  readonly started_at: number | null;
  readonly finished_at: number | null;
  /** From start to finish. */
  readonly duration_ms: number | null;
}

export function isFinished(status: RunStatus): boolean {
  return status !== 'queued' && status !== 'running';
}
