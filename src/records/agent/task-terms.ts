/**
 * How an agent with a task of its own was created. `spawn`, `delegate`: its parent awaits it. `session`: its end is announced later. `cron`: a timer
 * started it, and it has no parent.
 */
export type TaskKind = 'spawn' | 'session' | 'delegate' | 'cron';

/** An agent's own git worktree. */
export interface Worktree {
  /** Absolute path; contains the agent's folder. */
  readonly path: string;
  readonly branch: string;
  /** The commit it was created from. */
  readonly base: string;
}

/** How an agent works on a task in a fresh conversation; part of its configuration. */
export interface TaskTerms {
  readonly kind: TaskKind;
  /** Name shown to people (`label` of `sessions_spawn`, `description` of `subagent_spawn`). */
  readonly label: string | null;
  /** Row of the run history; null for `spawn`, whose outcome is in the parent's conversation. */
  readonly run_id: string | null;
  /** `delete`: the conversation is deleted once its outcome has been delivered. */
  readonly cleanup: 'delete' | 'keep';
  /** JSON Schema that a submitted result is checked against. */
  readonly output_schema: Readonly<Record<string, unknown>> | null;
  /** Depth of delegation; 0 for a task that was not delegated. */
  readonly delegation: number;
  readonly worktree: Worktree | null;
  /** Whether its outcome is also delivered to people outside; its conversation is kept until then. */
  readonly delivers?: boolean;
  /** Set if a workflow started it. */
  readonly workflow?: {
    /** The phase in which it did so, if any. */
    readonly phase: string | null;
    /** Set if it has the conversation of whoever started the workflow: its requests begin as theirs, and describe the same tools. */
    readonly forked?: true;
    /** The agent of the same call that it has been started in the place of. */
    readonly instead_of?: string;
  };
}

/** A task with what is usual for all that is not given. */
export function taskTerms(own: Partial<TaskTerms> & Pick<TaskTerms, 'kind' | 'label'>): TaskTerms {
  const usual = {
    run_id: null,
    cleanup: 'keep',
    output_schema: null,
    delegation: 0,
    worktree: null,
  } as const;
  return { ...usual, ...own };
}
