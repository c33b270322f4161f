import type { AgentConfig } from '../agent/agent.ts';
import type { Limits } from '../agent/limits.ts';

/** When a job is due. Instants are milliseconds since the epoch, always UTC. */
export type Schedule =
  /** A cron expression of five fields, or six with seconds first, read in the IANA zone `tz`. */
  | { readonly type: 'cron'; readonly expression: string; readonly tz: string }
  /** Due at `anchor + n × every_ms`, n ≥ 1. */
  | { readonly type: 'every'; readonly every_ms: number; readonly anchor: number }
  | { readonly type: 'at'; readonly at: number };

/** Behavior when the job is due while its previous run is still working: skip this instant, or queue one run. */
export type Overlap = 'skip' | 'queue';

/** A scheduled task (docs/cron.md). */
export interface NewCronJob {
  readonly id: string;
  /** Unique among all jobs of the ledger. */
  readonly name: string;
  readonly schedule: Schedule;
  readonly task: string;
  /** `isolated`: a new session `cron:<id>` each time. `main`: a system event to the main session of `root_id`. */
  readonly session: 'isolated' | 'main';
  /** The tree whose agent created the job, or whose main session gets the event; null for a person's job. */
  readonly root_id: string | null;
  /** Session key of the creator, for people; `you` for a person. */
  readonly created_by: string;
  /** Configuration of its isolated runs, fixed at creation so that later changes cannot widen it. */
  readonly config: AgentConfig;
  readonly limits: Limits;
  /** Labels that a server needs to lead its runs (`host:alpha`); empty: any server. */
  readonly placement: readonly string[];
  /** Null: only the tree's limit for a turn applies. */
  readonly timeout_ms: number | null;
  /** Outbox targets, without duplicates. */
  readonly deliver: readonly string[];
  /** Fires once and is then disabled; true for every `at` job. */
  readonly once: boolean;
  /** Whether a run's conversation is deleted after its result was delivered. */
  readonly cleanup: 'delete' | 'keep';
  readonly overlap: Overlap;
  readonly enabled: boolean;
  readonly created_at: number;
}

export interface CronJob extends NewCronJob {
  /** Incremented by every edit of the job. */
  readonly version: number;
  /** When it is due next; null if disabled or never due again. */
  readonly next_at: number | null;
  /** Database time when `next_at` was computed; a clock that reads earlier than this was set back. */
  readonly planned_at: number;
  readonly updated_at: number;
}

/**
 * Outcome of an instant. `fired`: it started a run or sent an event. `queued`: its run starts after the previous one. `skipped`: the previous run was
 * still working.
 */
export type FireOutcome = 'fired' | 'queued' | 'skipped';

/** One due instant of a job; unique per job and instant, whichever server fired it. */
export interface CronFire {
  readonly job_id: string;
  /** The scheduled instant; for `manual`, the time of the request. */
  readonly instant: number;
  readonly manual: boolean;
  readonly outcome: FireOutcome;
  /** How many earlier instants were missed because no server was running; this one stands for them. */
  readonly missed: number;
  /** The run that it started; null for an event or a skipped instant. */
  readonly run_id: string | null;
  /** Database time. */
  readonly fired_at: number;
}
