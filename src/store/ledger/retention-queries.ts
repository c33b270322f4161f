import { fireKey, removeFires } from '../../kernel/ledger/cron-jobs.ts';
import {
  closeTrees,
  type RemovableRow,
  type RemovalBatch,
  removeTreeRows,
} from '../../kernel/ledger/removal.ts';
import { listedTasks } from '../../records/run/listed-task.ts';
import {
  type ArchiveEntry,
  KEPT_FIRES,
  type OldKind,
  type RetentionLedger,
  ROOTS_PER_PAGE,
} from '../retention-ledger.ts';
import { agentsOf } from './agent-rows.ts';
import { type Database, NO_LIMIT } from './database.ts';
import { TASKS, tasksOf } from './fact-queries.ts';
import { goneWorkers } from './lease-queries.ts';
import { askOf, deliveryOf, fireOf, mailOf, messageOf, type Row, requestOf, runOf, treeOf } from './rows.ts';
import { isWorkerAlive, LIVING, WORKING } from './sql-conditions.ts';

/** How old entries of one kind are found and read. */
interface OldEntries {
  /** $1: ended before this time; $2: maximum rows; $3 and up: only keys greater than this one. */
  readonly select: string;
  readonly key: readonly string[];
  /** Less than every key: where the first page begins. */
  readonly first: Key;
  readonly entry: (row: Row) => ArchiveEntry;
}

type Key = readonly (string | number | boolean)[];

const UNDELIVERED = "EXISTS (SELECT 1 FROM deliveries d WHERE d.about = r.id AND d.status <> 'delivered')";

const IS_OLD_FIRE = `f.outcome <> 'queued' AND f.fired_at < $1 AND (f.job_id, f.instant, f.manual) > ($3, $4, $5)`;

const OLD: Readonly<Record<OldKind, OldEntries>> = {
  delivery: {
    select: `SELECT * FROM deliveries WHERE status = 'delivered' AND ended_at < $1 AND (ended_at, id) > ($3, $4)
      ORDER BY ended_at, id LIMIT $2`,
    key: ['ended_at', 'id'],
    first: [-1, ''],
    entry: (row) => ({ type: 'delivery', delivery: deliveryOf(row) }),
  },
  run: {
    select: `SELECT * FROM subagent_runs r WHERE r.finished_at < $1 AND (r.created_at, r.id) > ($3, $4)
      AND NOT EXISTS (SELECT 1 FROM agents g WHERE g.id = r.agent_id) AND NOT ${UNDELIVERED}
      ORDER BY r.created_at, r.id LIMIT $2`,
    key: ['created_at', 'id'],
    first: [-1, ''],
    entry: (row) => ({ type: 'run', run: runOf(row) }),
  },
  fire: {
    // Skips from job to job in the index to the first with old instants: all instants of a removed job, or those older than the newest `KEPT_FIRES` of
    // another.
    select: `WITH RECURSIVE job (id) AS (
        SELECT min(job_id) FROM cron_fires WHERE job_id >= $3
        UNION ALL SELECT (SELECT min(f.job_id) FROM cron_fires f WHERE f.job_id > job.id) FROM job WHERE job.id IS NOT NULL
      ), ends (job_id, until) AS (
        SELECT job.id, CASE WHEN EXISTS (SELECT 1 FROM cron_jobs j WHERE j.id = job.id)
          THEN (SELECT k.instant FROM cron_fires k WHERE k.job_id = job.id ORDER BY k.instant DESC LIMIT 1 OFFSET ${KEPT_FIRES})
          ELSE ${NO_LIMIT} END FROM job WHERE job.id IS NOT NULL
      ), one (job_id, until) AS (
        SELECT * FROM ends WHERE EXISTS (
          SELECT 1 FROM cron_fires f WHERE f.job_id = ends.job_id AND f.instant <= ends.until AND ${IS_OLD_FIRE}) LIMIT 1
      ) SELECT f.* FROM cron_fires f WHERE f.job_id = (SELECT job_id FROM one) AND f.instant <= (SELECT until FROM one)
        AND ${IS_OLD_FIRE} ORDER BY f.job_id, f.instant, f.manual LIMIT $2`,
    key: ['job_id', 'instant', 'manual'],
    first: ['', -1, false],
    entry: (row) => ({ type: 'fire', fire: fireOf(row) }),
  },
};

/** $1: ids; $2: only what ended before this time. */
const REMOVE = {
  delivery: "DELETE FROM deliveries WHERE status = 'delivered' AND ended_at < $2",
  run: 'DELETE FROM subagent_runs WHERE finished_at < $2',
} as const;

/** `RemovableRow`s of a tree. $1: the tree, $2: maximum rows of each kind. */
const REMOVABLE = `WITH member (id, created_at) AS (SELECT id, created_at FROM agents WHERE root_id = $1 ORDER BY created_at LIMIT $2)
  SELECT * FROM (SELECT 'message' AS part, m.agent_id AS id, m.seq AS n FROM member g CROSS JOIN messages m WHERE m.agent_id = g.id LIMIT $2) AS a
  UNION ALL SELECT * FROM (SELECT 'mail', m.id, 0 FROM member g CROSS JOIN mail m WHERE m.to_id = g.id LIMIT $2) AS b
  UNION ALL SELECT 'agent', g.id, (SELECT count(*) FROM requests q WHERE q.agent_id = g.id) FROM member g
  UNION ALL SELECT * FROM (SELECT 'ask', id, 0 FROM asks WHERE root_id = $1 LIMIT $2) AS c
  UNION ALL SELECT * FROM (SELECT 'kept', agent_id, 0 FROM subagent_runs WHERE root_id = $1 AND cleaned_at IS NULL LIMIT $2) AS d
  UNION ALL SELECT * FROM (SELECT 'run', r.agent_id, 0 FROM subagent_runs r WHERE r.root_id = $1 AND NOT ${UNDELIVERED} LIMIT $2) AS e`;

export function removeBatch(
  db: Database,
  root_id: string,
  batch: RemovalBatch,
): ReturnType<RetentionLedger['removeTreeRows']> {
  const query = { sql: REMOVABLE, values: [root_id, batch.most] };
  return db.transact(
    { tree: [root_id] },
    (unit, found) => removeTreeRows(unit, root_id, found as unknown as RemovableRow[], batch),
    query,
  );
}

/** Removal of old rows. */
export function retention(db: Database): RetentionLedger {
  const { elements, isTrue } = db.dialect;
  /**
   * Whether the tree of root `r` may be removed. $1: time since which nothing may have happened in it; $2: whether a root that rests qualifies; $3: workers
   * whose process no longer exists.
   */
  const may_go = `r.updated_at < $1 AND (NOT r.${LIVING} OR ($2 AND NOT r.${WORKING}))
    AND EXISTS (SELECT 1 FROM trees t WHERE t.root_id = r.id AND t.removal IS NULL)
    AND NOT EXISTS (SELECT 1 FROM agents g WHERE g.root_id = r.id AND (g.${WORKING} OR g.updated_at >= $1
      OR EXISTS (SELECT 1 FROM workers w WHERE w.id = g.worker AND ${isWorkerAlive(db.dialect, '$3')})
      OR (g.${LIVING} AND EXISTS (SELECT 1 FROM mail m WHERE m.to_id = g.id AND m.consumed_seq IS NULL))
      OR (SELECT m.sent_at FROM mail m WHERE m.to_id = g.id ORDER BY m.number DESC LIMIT 1) >= $1))
    AND NOT EXISTS (SELECT 1 FROM trees c WHERE c.cut_of = r.id)
    AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.root_id = r.id AND d.status = 'pending')
    AND NOT EXISTS (SELECT 1 FROM cron_jobs j WHERE j.root_id = r.id AND ${isTrue('j.enabled')})`;
  const gone = async () => JSON.stringify(await goneWorkers(db));

  return {
    oldTrees: async ({ before, idle }, from) => {
      const after = from === null ? [-1, ''] : (JSON.parse(from) as [number, string]);
      const sql = `SELECT r.id AS root_id, r.name, r.status, r.updated_at AS last_at, r.created_at, (${may_go}) AS may_go FROM (
          SELECT id, name, status, updated_at, created_at FROM agents WHERE parent_id IS NULL AND created_at < $1 AND (created_at, id) > ($4, $5)
          ORDER BY created_at, id LIMIT ${ROOTS_PER_PAGE}
        ) AS r ORDER BY r.created_at, r.id`;
      const rows = await db.read(sql, [before, idle, await gone(), ...after]);
      const last = rows.length < ROOTS_PER_PAGE ? undefined : rows.at(-1);
      const trees = rows.filter((row) => row.may_go);
      return {
        trees: trees.map(({ created_at: _, may_go: __, ...tree }) => tree as never),
        next: last === undefined ? null : JSON.stringify([last.created_at, last.root_id]),
      };
    },

    treeSize: async (root_id) => {
      // Messages and mail are numbered without gaps (law 11): nothing of them is read.
      const sql = `SELECT count(*) AS agents, CAST(coalesce(sum(last_seq - coalesce(forked_seq, 0)), 0) AS bigint) AS messages, CAST(coalesce(sum(mail_count), 0) AS bigint) AS mail,
        (SELECT count(*) FROM agents g JOIN requests q ON q.agent_id = g.id WHERE g.root_id = $1) AS requests,
        (SELECT count(*) FROM asks WHERE root_id = $1) AS asks, (SELECT count(*) FROM subagent_runs WHERE root_id = $1) AS runs
        FROM agents WHERE root_id = $1`;
      const [row] = await db.read(sql, [root_id]);
      return { ...row } as never;
    },

    closeTrees: async (root_ids, { before, idle }) => {
      const sql = `SELECT r.id FROM agents r WHERE r.id IN (SELECT value FROM ${elements('$4')} AS e) AND r.parent_id IS NULL AND ${may_go}`;
      const query = { sql, values: [before, idle, await gone(), JSON.stringify(root_ids)] };
      return db.transact(
        { tree: root_ids },
        (unit, found) => {
          const ids = found.map(({ id }) => id as string);
          closeTrees(unit, ids);
          return ids;
        },
        query,
      );
    },

    reopenTrees: async (root_ids) => {
      const sql = `UPDATE trees SET removal = NULL WHERE removal = 'closed' AND root_id IN (SELECT value FROM ${elements('$1')} AS e)`;
      await db.write(sql, [JSON.stringify(root_ids)]);
    },

    closedTrees: async (limit) => {
      const sql = 'SELECT root_id FROM trees WHERE removal IS NOT NULL ORDER BY root_id LIMIT $1';
      return (await db.read(sql, [limit])).map((row) => row.root_id as string);
    },

    treeEntries: (root_id) => treeEntries(db, root_id),

    removeTreeRows: (root_id, most, runs) => removeBatch(db, root_id, { most, runs, open: false }),

    oldEntries: async (kind, before, from, limit) => {
      const { select, key, first, entry } = OLD[kind];
      const after = from === null ? first : (JSON.parse(from) as Key);
      const rows = await db.read(select, [before, limit, ...after]);
      return rows.map((row) => ({
        key: JSON.stringify(key.map((column) => (column === 'manual' ? Boolean(row[column]) : row[column]))),
        entry: entry(row),
      }));
    },

    removeEntries: async (kind, keys, before) => {
      const parts = keys.map((key) => JSON.parse(key) as Key);
      if (kind === 'fire') {
        const of = parts as [string, number, boolean][];
        const fires = of.map(([job_id, instant, manual]) => ({ job_id, instant, manual }));
        const wanted = { fire: fires.map((one) => fireKey(one.job_id, one)) };
        return db.transact(wanted, (unit) => removeFires(unit, fires, before));
      }
      const sql = `${REMOVE[kind]} AND id IN (SELECT value FROM ${elements('$1')} AS e) RETURNING id`;
      return (await db.write(sql, [JSON.stringify(parts.map(([, id]) => id)), before])).length;
    },
  };
}

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
async function* treeEntries(db: Database, root_id: string): AsyncGenerator<ArchiveEntry> {
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
