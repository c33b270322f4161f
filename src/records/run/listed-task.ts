/** One entry of the task list that the agents of a tree share (docs/tasks.md). */
export interface ListedTask {
  /** Unique within its tree, counted from 1. */
  readonly number: number;
  readonly title: string;
  /** Numbers of tasks that must be done first. */
  readonly depends_on: readonly number[];
  /** `blocked`: open, but a task it depends on is not done. `claimed`: held by an agent that has not ended. */
  readonly state: 'open' | 'blocked' | 'claimed' | 'done';
  /** The agent that claimed or finished it. */
  readonly agent_id: string | null;
  readonly agent_name: string | null;
  readonly result: string | null;
  readonly added_by: string;
  /** Milliseconds since the epoch. */
  readonly added_at: number;
  readonly changed_at: number;
}

/** An operation of an agent on the list. */
export type TaskOrder =
  | {
      readonly action: 'add';
      readonly title: string;
      readonly depends_on: readonly number[];
      /** Numbers of tasks that will depend on the new one. */
      readonly blocks: readonly number[];
    }
  /** Null claims the first open task. */
  | { readonly action: 'claim'; readonly number: number | null }
  | { readonly action: 'done'; readonly number: number; readonly result: string }
  | { readonly action: 'release'; readonly number: number }
  | { readonly action: 'list' };

/** The call that requests the operation. */
export interface TaskCall {
  readonly root_id: string;
  readonly agent_id: string;
  readonly epoch: number;
  readonly call_id: string;
}

export type TaskAnswer =
  | { readonly ok: true; readonly output: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly error: string };

/** A row of the list as the ledger keeps it. */
export interface TaskRow extends Omit<ListedTask, 'depends_on' | 'state'> {
  /** JSON array of numbers. */
  readonly depends_on: string;
  readonly done: boolean;
  /** Whether the agent `agent_id` has not ended. */
  readonly alive: boolean;
  /** The call that added it. */
  readonly call_id: string;
}

/** Derives the list from its rows. Claims of agents that have ended no longer count. */
export function listedTasks(rows: readonly TaskRow[]): ListedTask[] {
  const done = new Set(rows.filter((row) => row.done).map(({ number }) => number));
  return rows.map(({ done: is_done, alive, call_id: _, depends_on: text, agent_id, agent_name, ...row }) => {
    const depends_on = JSON.parse(text) as number[];
    const held = is_done || (agent_id !== null && alive);
    const open = depends_on.every((number) => done.has(number)) ? 'open' : 'blocked';
    return {
      ...row,
      depends_on,
      state: is_done ? 'done' : held ? 'claimed' : open,
      agent_id: held ? agent_id : null,
      agent_name: held ? agent_name : null,
    };
  });
}

/** A row for people: number, state, agent, and title, followed by the tasks it depends on or its result. */
export function taskCells({
  number,
  state,
  agent_name,
  title,
  depends_on,
  result,
}: Pick<ListedTask, 'number' | 'state' | 'agent_name' | 'title' | 'depends_on' | 'result'>): string[] {
  const waits = state === 'blocked' ? ` (after ${depends_on.join(', ')})` : '';
  const came = result === null || result === '' ? '' : ` → ${result}`;
  return [String(number), state, agent_name ?? '', `${title}${waits}${came}`];
}
