/**
 * How an agent with a task of its own was asked for: its parent awaits it (`spawn`, `delegate`), hears of it later (`session`), or it has none
 * and was begun by a timer (`cron`).
 */
export type TaskKind = 'spawn' | 'session' | 'delegate' | 'cron';

/** A git worktree of the agent's own: its branch and its changes are part of its result. */
export interface Worktree {
  /** Absolute; the agent's folder lies in it. */
  readonly path: string;
  readonly branch: string;
  /** The commit it began at. */
  readonly base: string;
}

/** The terms under which an agent works on a task in a fresh conversation; they are part of its configuration. */
export interface TaskTerms {
  readonly kind: TaskKind;
  /** What people call it (`sessions_spawn` label, `subagent_spawn` description). */
  readonly label: string | null;
  /** Row of the run history; null for `spawn`, whose outcome stands in the parent's conversation. */
  readonly run_id: string | null;
  /** `delete`: the conversation goes once its outcome was delivered (seed 4). */
  readonly cleanup: 'delete' | 'keep';
  /** JSON Schema that a submitted result is checked against. */
  readonly output_schema: Readonly<Record<string, unknown>> | null;
  /** How many delegations deep it is (seed 5); 0 for a task that nobody delegated. */
  readonly delegation: number;
  readonly worktree: Worktree | null;
  /** Its end goes to people outside too: its conversation stays until they have it. */
  readonly delivers?: boolean;
}
