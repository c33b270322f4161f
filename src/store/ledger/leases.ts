import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { serve } from '../../kernel/ledger/leading.ts';
import { beat, claim, dissolve, releaseTree } from '../../kernel/ledger/taking.ts';
import { isProcessGone } from '../process-gone.ts';
import type { Leases, Signal, Worker } from '../store.ts';
import type { Database } from './database.ts';
import { agentOf, type Row, workerOf } from './rows.ts';
import { hasUnread } from './unread.ts';

/** So many looks at one tree are made up for. */
const LOOKS_AT_A_TREE = 4;

/** Workers of this host whose process is gone, whatever their lease says. */
export async function goneWorkers(db: Database, host = hostname()): Promise<string[]> {
  const known = (await db.read('SELECT id, host, pid FROM workers')) as unknown as Worker[];
  return known.filter((one) => isProcessGone(one, host)).map(({ id }) => id);
}

/** SQL: the worker `w` lives. `gone`: those whose process is gone, as a JSON list. */
export function isLeased({ dialect }: Database, gone: string): string {
  return `w.expires_at > coppice_now() AND w.id NOT IN (SELECT value FROM ${dialect.elements(gone)} AS gone)`;
}

/** Who leads what. */
export function leases(db: Database): Leases {
  /** Trees whose claim was sent and never answered, each with the token by which the ledger knows it again. */
  const unsure = new Map<string, string>();
  /** Workers that were entered through here and not taken out again. */
  const entered = new Set<string>();
  /** Ids of signals that were handed out; the next look takes them away, so that none is lost with an answer. */
  const heard = new Map<string, readonly number[]>();

  /** In pieces, so that no transaction is long. */
  const empty = async (worker_id: string, gone: ReadonlySet<string> | null) => {
    const wanted = { worker: [worker_id], held: [worker_id] };
    while (await db.transact(wanted, (unit) => dissolve(unit, worker_id, gone)));
  };

  return {
    heartbeat: async ({ id, host, pid, role = 'run', labels = [] }) => {
      const worker = { id, host, pid, role, labels: JSON.stringify(labels) };
      const known = entered.has(id);
      const alive = await db.transact({ worker: [id] }, (unit) => beat(unit, worker, known));
      entered.add(id);
      return alive;
    },

    release: async (worker_id) => {
      await empty(worker_id, null);
      entered.delete(worker_id);
      heard.delete(worker_id);
    },

    claim: async (root_id, worker) => {
      const gone = new Set((await goneWorkers(db, worker.host)).filter((id) => id !== worker.id));
      const token = unsure.get(root_id) ?? randomUUID();
      unsure.set(root_id, token);
      const wanted = { tree: [root_id], members: [root_id] };
      const ids = await db.transact(wanted, (unit) => claim(unit, root_id, worker.id, gone, token));
      const sql = `SELECT *, ${hasUnread('agents')} AS unread FROM agents WHERE root_id = $1 AND worker = $2`;
      const rows = ids.length === 0 ? [] : await db.read(sql, [root_id, worker.id]);
      unsure.delete(root_id);
      const claimed = new Set(ids);
      return rows.map(agentOf).filter(({ id }) => claimed.has(id));
    },

    unledTrees: async (limit, labels = []) => {
      const gone = new Set(await goneWorkers(db));
      for (const dead of await deadWorkers(db, gone)) await empty(dead, gone);
      const rows = await db.read(UNLED(db), [JSON.stringify(labels), limit * LOOKS_AT_A_TREE]);
      const unled = rows.map((row) => row.root_id as string);
      return [...new Set([...unsure.keys(), ...unled])].slice(0, limit);
    },

    placement: async (root_id) => {
      const sql = `SELECT placement FROM trees WHERE root_id = $1 AND ${db.dialect.isTrue('served')}`;
      const [row] = await db.read(sql, [root_id]);
      return row === undefined ? null : JSON.parse(row.placement as string);
    },

    serveTree: (root_id) => db.transact({ tree: [root_id] }, (unit) => serve(unit, root_id)),

    releaseTree: (root_id, worker_id, parked = new Map()) => {
      const ids = [...parked.keys()];
      const wanted = { tree: [root_id], members: [root_id], told: [worker_id] };
      return db.transact({ ...wanted, state: ids, pending: ids, unled: ids }, (unit) =>
        releaseTree(unit, root_id, worker_id, parked),
      );
    },

    signals: async (worker_id) => {
      const columns = 'id, agent_id, kind, about';
      if (!db.loses_answers) {
        // A look is not a write: most wake-ups are about something else.
        const [any] = await db.read('SELECT 1 FROM signals WHERE worker = $1 LIMIT 1', [worker_id]);
        if (any === undefined) return [];
        const taken = await db.write(`DELETE FROM signals WHERE worker = $1 RETURNING ${columns}`, [
          worker_id,
        ]);
        return taken.sort((a, b) => (a.id as number) - (b.id as number)).map(signalOf);
      }
      const before = new Set(heard.get(worker_id) ?? []);
      const forget = `DELETE FROM signals WHERE id IN (SELECT CAST(value AS bigint) FROM ${db.dialect.elements('$1')} AS e)`;
      const [found] = await Promise.all([
        db.read(`SELECT ${columns} FROM signals WHERE worker = $1 ORDER BY id`, [worker_id]),
        before.size === 0 ? null : db.write(forget, [JSON.stringify([...before])]),
      ]);
      const news = found.filter(({ id }) => !before.has(id as number));
      heard.set(
        worker_id,
        news.map(({ id }) => id as number),
      );
      return news.map(signalOf);
    },

    workers: async () => {
      const sql = 'SELECT * FROM workers WHERE expires_at > coppice_now() ORDER BY started_at, id';
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

/** Whoever holds an agent, by a jump from holder to holder, and all workers; `leased`: its lease is alive. */
const KNOWN_WORKERS = `WITH RECURSIVE holder (worker) AS (
    SELECT min(worker) FROM agents WHERE worker IS NOT NULL
    UNION ALL
    SELECT (SELECT min(g.worker) FROM agents g WHERE g.worker > holder.worker) FROM holder WHERE holder.worker IS NOT NULL
  ), known (id) AS (SELECT worker FROM holder WHERE worker IS NOT NULL UNION SELECT id FROM workers)
  SELECT id, (SELECT w.expires_at > coppice_now() FROM workers w WHERE w.id = known.id) AS leased FROM known`;

async function deadWorkers(db: Database, gone: ReadonlySet<string>): Promise<string[]> {
  const rows = (await db.read(KNOWN_WORKERS)) as { id: string; leased: unknown }[];
  return rows.filter(({ id, leased }) => !leased || gone.has(id)).map(({ id }) => id);
}

/** From tree to tree, those that are due longest first (no join, which could change their order); a tree comes once for each time at which something in it was due. $1: the worker's labels, $2: how many. */
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
