import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { claim, releaseTree, removeWorker, renewLease } from '../../kernel/ledger/leases.ts';
import { AT_ONCE_MS, markServed } from '../../kernel/ledger/unled.ts';
import { keptIn } from '../../records/kept-in.ts';
import { isProcessGone } from '../process-gone.ts';
import type { Leases, Signal, Worker } from '../store.ts';
import { agentsOf } from './agent-rows.ts';
import type { Database } from './database.ts';
import { type Row, workerOf } from './rows.ts';
import { hasMail, hasUnread, isWorkerAlive, LIVING, UNEXPIRED, WORKING } from './sql-conditions.ts';

/** Rows read for each tree wanted: the query finds a tree once for each of its due times, and must still fill the limit. */
const ROWS_PER_TREE = 4;

/** Returns the workers of this host whose process no longer exists, whatever their lease says. */
export async function goneWorkers(db: Database, host = hostname()): Promise<string[]> {
  const known = (await db.read('SELECT id, host, pid FROM workers')) as unknown as Worker[];
  return known.filter((one) => isProcessGone(one, host)).map(({ id }) => id);
}

/** Leases: which worker leads which agents. */
export function leases(db: Database): Leases {
  /** Trees whose claim was not acknowledged, with the token by which the ledger recognises the retry. */
  const unacknowledged = new Map<string, string>();
  /** Workers registered here and not released. */
  const registered = new Set<string>();
  /** Ids of the signals returned last; the next read deletes them, so that none is lost with its answer. */
  const returned = new Map<string, readonly number[]>();

  /** Removes a worker in batches, so that no transaction is long. */
  const remove = async (worker_id: string, gone: ReadonlySet<string> | null) => {
    const wanted = { worker: [worker_id], held: [worker_id] };
    while (await db.transact(wanted, (unit) => removeWorker(unit, worker_id, gone)));
  };

  return {
    heartbeat: async ({ id, host, pid, role = 'run', labels = [] }) => {
      const worker = { id, host, pid, role, labels: JSON.stringify(labels) };
      const known = registered.has(id);
      const alive = await db.transact({ worker: [id] }, (unit) => renewLease(unit, worker, known));
      registered.add(id);
      return alive;
    },

    release: async (worker_id) => {
      await remove(worker_id, null);
      registered.delete(worker_id);
      returned.delete(worker_id);
    },

    claim: async (root_id, worker) => {
      const gone = new Set((await goneWorkers(db, worker.host)).filter((id) => id !== worker.id));
      const token = keptIn(unacknowledged, root_id, () => randomUUID());
      const wanted = { tree: [root_id], members: [root_id] };
      const ids = await db.transact(wanted, (unit) => claim(unit, root_id, worker.id, gone, token));
      const sql = `SELECT *, ${hasUnread('agents')} AS unread FROM agents WHERE root_id = $1 AND worker = $2`;
      const rows = ids.length === 0 ? [] : await db.read(sql, [root_id, worker.id]);
      unacknowledged.delete(root_id);
      const claimed = new Set(ids);
      return (await agentsOf(db, rows)).filter(({ id }) => claimed.has(id));
    },

    unledFor: async (root_id) => {
      const sql = `SELECT g.id, coppice_now() - coalesce(u.due_at - (${AT_ONCE_MS}), w.expires_at, g.updated_at) AS ms FROM agents g
        LEFT JOIN unled u ON u.root_id = g.root_id AND u.agent_id = g.id LEFT JOIN workers w ON w.id = g.worker WHERE g.root_id = $1`;
      return new Map((await db.read(sql, [root_id])).map(({ id, ms }) => [id as string, Number(ms)]));
    },

    unledTrees: async (limit, labels = []) => {
      const gone = new Set(await goneWorkers(db));
      for (const { id } of await db.read(DEAD_WORKERS(db), [JSON.stringify([...gone])])) {
        if (gone.has(id as string)) await db.write(NOTE_DEATH, [id as string]);
        await remove(id as string, gone);
      }
      const rows = await db.read(UNLED(db), [JSON.stringify(labels), limit * ROWS_PER_TREE]);
      const unled = rows.map((row) => row.root_id as string);
      return [...new Set([...unacknowledged.keys(), ...unled])].slice(0, limit);
    },

    leftAlone: async (root_ids, workers) => {
      const member = `SELECT 1 FROM agents g WHERE g.root_id = e.value AND g.${LIVING}`;
      const sql = `SELECT e.value AS id FROM ${db.dialect.elements('$1')} AS e
        WHERE EXISTS (${member} AND (g.${WORKING} OR ${hasMail('g')}) LIMIT 1 OFFSET 0)
        AND NOT EXISTS (${member} AND g.worker IN (SELECT value FROM ${db.dialect.elements('$2')} AS w) LIMIT 1 OFFSET 0)`;
      const lists = [root_ids, workers.map(({ id }) => id)].map((list) => JSON.stringify(list));
      return (await db.read(sql, lists)).map(({ id }) => id as string);
    },

    parkedRequests: async (limit) => {
      const sql = `SELECT g.* FROM unled u JOIN agents g ON g.id = u.agent_id
        WHERE u.due_at > coppice_now() AND g.status = 'requesting' ORDER BY u.due_at DESC LIMIT $1`;
      return agentsOf(db, await db.read(sql, [limit]));
    },

    placement: async (root_id) => {
      const sql = `SELECT placement FROM trees WHERE root_id = $1 AND ${db.dialect.isTrue('served')}`;
      const [row] = await db.read(sql, [root_id]);
      return row === undefined ? null : JSON.parse(row.placement as string);
    },

    serveTree: (root_id) => db.transact({ tree: [root_id] }, (unit) => markServed(unit, root_id)),

    releaseTree: (root_id, worker_id, parked = new Map()) => {
      const ids = [...parked.keys()];
      const wanted = { tree: [root_id], members: [root_id], told: [worker_id] };
      return db.transact({ ...wanted, state: ids, pending: ids, unled: ids }, (unit) =>
        releaseTree(unit, root_id, worker_id, parked),
      );
    },

    signals: async (worker_id) => {
      const columns = 'id, agent_id, kind, about';
      if (!db.acknowledgements_may_be_lost) {
        // Reading first avoids a write lock: most wake-ups concern something else.
        const [any] = await db.read('SELECT 1 FROM signals WHERE worker = $1 LIMIT 1', [worker_id]);
        if (any === undefined) return [];
        const taken = await db.write(`DELETE FROM signals WHERE worker = $1 RETURNING ${columns}`, [
          worker_id,
        ]);
        return taken.sort((a, b) => (a.id as number) - (b.id as number)).map(signalOf);
      }
      const known = new Set(returned.get(worker_id) ?? []);
      const forget = `DELETE FROM signals WHERE id IN (SELECT CAST(value AS bigint) FROM ${db.dialect.elements('$1')} AS e)`;
      const [found] = await Promise.all([
        db.read(`SELECT ${columns} FROM signals WHERE worker = $1 ORDER BY id`, [worker_id]),
        known.size === 0 ? null : db.write(forget, [JSON.stringify([...known])]),
      ]);
      const unread = found.filter(({ id }) => !known.has(id as number));
      returned.set(
        worker_id,
        unread.map(({ id }) => id as number),
      );
      return unread.map(signalOf);
    },

    workers: async () => {
      const sql = `SELECT * FROM workers w WHERE ${UNEXPIRED} ORDER BY started_at, id`;
      return (await db.read(sql)).map(workerOf);
    },

    ledBy: async (worker_ids) => {
      const sql = `SELECT worker, count(*) AS n FROM agents WHERE worker IN (SELECT value FROM ${db.dialect.elements('$1')} AS e) GROUP BY worker`;
      const rows = await db.read(sql, [JSON.stringify(worker_ids)]);
      return new Map(rows.map((row) => [row.worker as string, Number(row.n)]));
    },

    drainWorker: async (worker_id) => {
      const sql = `UPDATE workers SET draining = ${db.kind === 'sqlite' ? '1' : 'true'} WHERE id = $1 RETURNING id`;
      return (await db.write(sql, [worker_id])).length > 0;
    },
  };
}

/** Tells `Alerts` that the process of a server or worker died: its row vanishes as after a stop in order. */
const NOTE_DEATH = `INSERT INTO channel_notes (channel, key, value) SELECT 'alerts', 'died ' || id, '' FROM workers
  WHERE id = $1 AND role <> 'run' ON CONFLICT (channel, key) DO NOTHING`;

/**
 * Workers that may not lead any agent, among all workers and all holders of agents; the holders are found by skipping from one to the next in the index.
 * $1: workers whose process no longer exists.
 */
const DEAD_WORKERS = ({ dialect }: Database) => `WITH RECURSIVE holder (worker) AS (
    SELECT min(worker) FROM agents WHERE worker IS NOT NULL
    UNION ALL
    SELECT (SELECT min(g.worker) FROM agents g WHERE g.worker > holder.worker) FROM holder WHERE holder.worker IS NOT NULL
  ), known (id) AS (SELECT worker FROM holder WHERE worker IS NOT NULL UNION SELECT id FROM workers)
  SELECT id FROM known WHERE id NOT IN (SELECT w.id FROM workers w WHERE ${isWorkerAlive(dialect, '$1')})`;

/**
 * Trees by due time, the earliest first, found by skipping along the index (a join could change their order); a tree appears once for each of its due times.
 * $1: the worker's labels, $2: maximum rows.
 */
const UNLED = ({ dialect: { elements } }: Database) => {
  const next = (
    column: string,
  ) => `(SELECT u.${column} FROM unled u WHERE (u.due_at, u.root_id) > (due.due_at, due.root_id)
      ORDER BY u.due_at, u.root_id LIMIT 1)`;
  return `WITH RECURSIVE longest (due_at, root_id) AS (SELECT due_at, root_id FROM unled ORDER BY due_at, root_id LIMIT 1),
  due (due_at, root_id) AS (
    SELECT due_at, root_id FROM longest
    UNION ALL
    SELECT ${next('due_at')}, ${next('root_id')} FROM due WHERE due.due_at <= coppice_now()
  ) SELECT due.root_id FROM due WHERE due.due_at <= coppice_now() AND 0 < (SELECT count(*) FROM trees t WHERE t.root_id = due.root_id
    AND NOT EXISTS (SELECT 1 FROM ${elements('t.placement')} AS p WHERE p.value NOT IN (SELECT value FROM ${elements('$1')} AS l)))
  LIMIT $2`;
};

function signalOf({ agent_id, kind, about }: Row): Signal {
  return { agent_id, kind, about } as Signal;
}
