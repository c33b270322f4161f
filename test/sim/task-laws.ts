import type { DatabaseSync } from 'node:sqlite';
import type { PlacedMessage } from '../../src/records/conversation/message.ts';

/** Returns the laws of the shared task list (docs/tasks.md) that the rows break now. */
export function brokenClaims(database: DatabaseSync): string[] {
  // Law K1: a living agent holds at most one open task.
  const greedy = database
    .prepare(
      `SELECT tasks.agent_id, count(*) AS held FROM tasks JOIN agents ON agents.id = tasks.agent_id
        WHERE NOT done AND agents.status NOT IN ('completed', 'failed', 'killed') GROUP BY tasks.agent_id HAVING count(*) > 1`,
    )
    .all();
  return greedy.map(({ agent_id, held }) => `law K1: ${agent_id} holds ${held} tasks at once`);
}

/** Law K1 over time: nobody takes a task that a living agent has claimed. */
export class ClaimWatch {
  #before = new Map<string, string>();

  /** Call after every change of a list; compares with the claims at the previous call. */
  look(database: DatabaseSync): string[] {
    const rows = database.prepare(
      `SELECT root_id, number, agent_id, (SELECT status IN ('completed', 'failed', 'killed') FROM agents WHERE id = ?) AS gone
          FROM tasks WHERE root_id || ' ' || number = ? AND agent_id IS NOT NULL AND agent_id <> ?`,
    );
    const broken = [...this.#before].flatMap(([place, agent_id]) => {
      const taken = rows.get(agent_id, place, agent_id);
      return taken === undefined || taken.gone !== 0
        ? []
        : [`law K1: ${taken.agent_id} took ${place} from ${agent_id}`];
    });
    const held = database
      .prepare('SELECT root_id, number, agent_id FROM tasks WHERE NOT done AND agent_id IS NOT NULL')
      .all();
    this.#before = new Map(
      held.map(({ root_id, number, agent_id }) => [`${root_id} ${number}`, agent_id as string]),
    );
    return broken;
  }
}

interface TaskRow {
  readonly root_id: string;
  readonly number: number;
  readonly depends_on: string;
  readonly done: number;
  readonly agent_id: string | null;
  readonly added_by: string;
  readonly call_id: string;
}

/** The same laws at rest, compared with what agents were told: each task was added once and done by one agent, whoever died meanwhile. */
export function brokenTasks(database: DatabaseSync, messages: readonly PlacedMessage[]): string[] {
  const rows = database.prepare('SELECT * FROM tasks').all() as unknown as TaskRow[];
  const roots = new Map(
    database
      .prepare('SELECT id, root_id FROM agents')
      .all()
      .map(({ id, root_id }) => [id as string, root_id as string]),
  );
  const broken = [...brokenClaims(database), ...circles(rows)];
  const calls = new Set(rows.map(({ added_by, call_id }) => `${added_by} ${call_id}`));
  if (calls.size !== rows.length) broken.push('law K4: a call added two tasks');
  const added = new Set<string>();
  for (const { kind, content, agent_id } of messages) {
    if (kind !== 'result' || content.status !== 'ok' || !content.name.startsWith('task_')) continue;
    const said = JSON.parse(content.output) as { readonly task?: unknown; readonly done?: number };
    const root_id = roots.get(agent_id);
    const rowOf = (number: unknown) => rows.find((row) => row.root_id === root_id && row.number === number);
    if (content.name === 'task_add') {
      const [place, row] = [`${root_id} ${said.task}`, rowOf(said.task)];
      if (added.has(place)) broken.push(`law K4: two calls were told that they added ${place}`);
      added.add(place);
      if (row?.added_by !== agent_id) broken.push(`${place}, which ${agent_id} added, is not there`);
    }
    if (content.name === 'task_done') {
      const row = rowOf(said.done);
      if (row === undefined || row.done === 0 || row.agent_id !== agent_id)
        broken.push(`law K1: ${agent_id} was told that it did ${said.done}, which ${row?.agent_id} has`);
    }
  }
  return broken;
}

/** Law K3: dependencies form no cycle. */
function circles(rows: readonly TaskRow[]): string[] {
  const before = new Map(
    rows.map(({ root_id, number, depends_on }) => [
      `${root_id} ${number}`,
      (JSON.parse(depends_on) as number[]).map((other) => `${root_id} ${other}`),
    ]),
  );
  const reaches = (from: string, target: string, seen: Set<string>): boolean =>
    (before.get(from) ?? []).some((next) => {
      if (next === target) return true;
      if (seen.has(next)) return false;
      seen.add(next);
      return reaches(next, target, seen);
    });
  return [...before.keys()]
    .filter((place) => reaches(place, place, new Set()))
    .map((place) => `law K3: the task ${place} waits for itself`);
}
