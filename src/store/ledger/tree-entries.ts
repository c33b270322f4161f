import { listedTasks } from '../../records/run/listed-task.ts';
import type { ArchiveEntry } from '../retention-ledger.ts';
import { agentsOf } from './agent-rows.ts';
import type { Database } from './database.ts';
import { TASKS, tasksOf } from './fact-queries.ts';
import { askOf, mailOf, messageOf, type Row, requestOf, runOf, treeOf } from './rows.ts';

/** Rows per page. */
const PAGE = 200;

interface Part {
  readonly table: string;
  readonly by: string;
  /** Columns by which rows are sorted; unique within `by`. */
  readonly order: readonly string[];
}

const AGENTS: Part = { table: 'agents', by: 'root_id', order: ['created_at', 'id'] };
const MESSAGES: Part = { table: 'messages', by: 'agent_id', order: ['seq'] };
const MAIL: Part = { table: 'mail', by: 'to_id', order: ['number'] };
const REQUESTS: Part = { table: 'requests', by: 'agent_id', order: ['id'] };
const EDGES: Part = { table: 'wait_edges', by: 'waiter', order: ['target'] };
const ASKS: Part = { table: 'asks', by: 'root_id', order: ['asked_at', 'id'] };
const RUNS: Part = { table: 'subagent_runs', by: 'root_id', order: ['created_at', 'id'] };

/** Everything that a ledger holds of a tree, page by page: the tree, each agent with what is its own, then what belongs to the tree. */
export async function* treeEntries(db: Database, root_id: string): AsyncGenerator<ArchiveEntry> {
  const rows = (part: Part, of: string) => pages(db, part, of);
  for (const row of await db.read('SELECT * FROM trees WHERE root_id = $1', [root_id]))
    yield { type: 'tree', tree: treeOf(row) };
  for await (const row of rows(AGENTS, root_id)) {
    const id = row.id as string;
    for (const agent of await agentsOf(db, [row])) yield { type: 'agent', agent };
    for await (const one of rows(MESSAGES, id)) yield { type: 'message', message: messageOf(one) };
    for await (const one of rows(MAIL, id)) yield { type: 'mail', mail: mailOf(one) };
    for await (const one of rows(REQUESTS, id))
      yield { type: 'request', agent_id: id, request: requestOf(one) };
    for await (const one of rows(EDGES, id)) yield { type: 'edge', waiter: id, target: one.target as string };
  }
  for await (const row of rows(ASKS, root_id)) yield { type: 'ask', ask: askOf(row) };
  for await (const row of rows(RUNS, root_id)) yield { type: 'run', run: runOf(row) };
  for (const task of listedTasks(tasksOf(await db.read(TASKS, [root_id])))) yield { type: 'task', task };
}

async function* pages(db: Database, { table, by, order }: Part, of: string): AsyncGenerator<Row> {
  const columns = order.join(', ');
  const last = order.map((_, at) => `$${at + 2}`).join(', ');
  const first = `SELECT * FROM ${table} WHERE ${by} = $1 ORDER BY ${columns} LIMIT ${PAGE}`;
  const more = `SELECT * FROM ${table} WHERE ${by} = $1 AND (${columns}) > (${last}) ORDER BY ${columns} LIMIT ${PAGE}`;
  let page = await db.read(first, [of]);
  for (;;) {
    yield* page;
    const end = page.at(-1);
    if (end === undefined || page.length < PAGE) return;
    page = await db.read(more, [of, ...order.map((column) => end[column] as string | number)]);
  }
}
