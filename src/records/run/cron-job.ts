import type { AgentConfig } from '../agent/agent.ts';
import type { Limits } from '../agent/limits.ts';

/** When a job is due. Instants are milliseconds since the epoch, always UTC. */
export type Schedule =
  /** A cron expression of five fields, or six with seconds first, read in the IANA zone `tz`. */
  | { readonly type: 'cron'; readonly expression: string; readonly tz: string }
  /** At `anchor + n × every_ms`, n ≥ 1. */
  | { readonly type: 'every'; readonly every_ms: number; readonly anchor: number }
  | { readonly type: 'at'; readonly at: number };

/** Due while its run is still at work: leave this instant out, or let one run wait for its turn. */
export type Overlap = 'skip' | 'queue';

/** A task on a timer (seed 4, Relationship to Cron). */
export interface NewCronJob {
  readonly id: string;
  /** Unique among all jobs of the ledger. */
  readonly name: string;
  readonly schedule: Schedule;
  readonly task: string;
  /** `isolated`: a fresh session `cron:<id>` each time. `main`: a system event into the main session of `root_id`. */
  readonly session: 'isolated' | 'main';
  /** The tree whose agent made the job, or whose main session gets the event; null: a person's job. */
  readonly root_id: string | null;
  /** Session key of who made it, for people; `you` for a person. */
  readonly created_by: string;
  /** With what an isolated run is created: settled when the job is made, so that nothing that changes later can widen it. */
  readonly config: AgentConfig;
  readonly limits: Limits;
  /** Labels that a server must have to lead its runs (`host:alpha`); empty: any does. */
  readonly placement: readonly string[];
  /** Null: the tree's usual limit of a turn. */
  readonly timeout_ms: number | null;
  /** Targets of the outbox, each once. */
  readonly deliver: readonly string[];
  /** Fires once, then disables itself; true for every `at` job. */
  readonly once: boolean;
  /** What becomes of the conversation of a run once it was delivered. */
  readonly cleanup: 'delete' | 'keep';
  readonly overlap: Overlap;
  readonly enabled: boolean;
  readonly created_at: number;
}

export interface CronJob extends NewCronJob {
  /** Rises with every change that somebody makes to the job. */
  readonly version: number;
  /** The instant it is due next; null when it is disabled or will never be due again. */
  readonly next_at: number | null;
  /** The database's clock when `next_at` was worked out: a clock that stands before it was set back. */
  readonly planned_at: number;
  readonly updated_at: number;
}

/**
 * What became of an instant. `fired`: it led to a run, or to an event. `queued`: its run begins when the one before has ended. `skipped`: the
 * run before was still at work.
 */
export type FireOutcome = 'fired' | 'queued' | 'skipped';

/** One instant of one job, whoever noticed it: unique per job and instant. */
export interface CronFire {
  readonly job_id: string;
  /** The instant of the schedule; for `manual`, when it was asked for. */
  readonly instant: number;
  readonly manual: boolean;
  readonly outcome: FireOutcome;
  /** How many instants were missed before it (nobody served then) and are made up for by this one. */
  readonly missed: number;
  /** The run that it led to; null for an event, and for what led to nothing. */
  readonly run_id: string | null;
  /** The database's clock. */
  readonly fired_at: number;
}
