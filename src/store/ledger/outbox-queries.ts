import { removeConversation } from '../../kernel/ledger/removal.ts';
import { splitTarget } from '../../records/run/delivery.ts';
import type { OutboxLedger } from '../outbox-ledger.ts';
import { type Database, NO_LIMIT } from './database.ts';
import { goneWorkers } from './lease-queries.ts';
import { removeBatch } from './retention-queries.ts';
import { deliveryOf, type Row } from './rows.ts';
import {
  below,
  exactMatchOrAll,
  hasPrefix,
  isWorkerAlive,
  MAX_FOUND,
  UNEXPIRED,
  where,
} from './sql-conditions.ts';

/** Maximum rows of a tree that are removed in one transaction. */
const REMOVAL_BATCH = 2_000;
/** How long a delivery is not claimed again after a claim whose try has no recorded outcome. */
const CLAIM_PAUSE_MS = 1_000;

/** Deliveries to people outside, and the seats and notes of channels. */
export function outbox(db: Database): OutboxLedger {
  const { elements, row_number, skipLocked } = db.dialect;
  const gone = async () => JSON.stringify(await goneWorkers(db));
  const hasLease = (worker: string) =>
    `EXISTS (SELECT 1 FROM workers w WHERE w.id = ${worker} AND ${UNEXPIRED})`;
  return {
    enterDelivery: async ({ id, kind, target, root_id, agent_id, about, body, created_at }) => {
      const sql = `INSERT INTO deliveries (id, kind, target, channel, root_id, agent_id, about, body, created_at, next_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9) ON CONFLICT (id) DO NOTHING RETURNING id`;
      const { channel } = splitTarget(target);
      const values = [id, kind, target, channel, root_id, agent_id, about, body, created_at];
      return (await db.write(sql, values)).length > 0;
    },

    claimDeliveries: async (worker_id, at, limit, channels, held = []) => {
      // The condition is part of the update, so that PostgreSQL checks it again for a row that another claim has just changed.
      const due = `SELECT d.id FROM deliveries d WHERE d.status = 'pending' AND d.next_at <= $1
          AND d.channel IN (SELECT value FROM ${elements('$2')} AS c)
          AND (d.worker IS NULL OR d.worker = $4
            OR NOT EXISTS (SELECT 1 FROM workers w WHERE w.id = d.worker AND ${isWorkerAlive(db.dialect, '$3')}))
          AND d.id NOT IN (SELECT value FROM ${elements('$5')} AS h) AND ${hasLease('$4')}
        ORDER BY d.created_at, d.${row_number} LIMIT $6`;
      const lists = [JSON.stringify(channels), await gone(), worker_id, JSON.stringify(held)];
      const values = [at, ...lists, limit];
      // Reading first avoids a write lock: usually nothing is due.
      if ((await db.read(due, values)).length === 0) return [];
      const claim = `UPDATE deliveries SET worker = $4, attempts = attempts + 1, next_at = $1 + ${CLAIM_PAUSE_MS} WHERE id IN (${due} ${skipLocked('d')})
        RETURNING *, ${row_number} AS place`;
      const order = (a: Row, b: Row, column: string) => (a[column] as number) - (b[column] as number);
      return (await db.write(claim, values))
        .toSorted((a, b) => order(a, b, 'created_at') || order(a, b, 'place'))
        .map(({ place: _, ...row }) => deliveryOf(row));
    },

    pendingChannels: async () => {
      const sql = "SELECT DISTINCT channel FROM deliveries WHERE status = 'pending'";
      return (await db.read(sql)).map((row) => row.channel as string);
    },

    noteDelivery: async (id, worker_id, attempt, progress) => {
      const sql = `UPDATE deliveries SET progress = $4 WHERE id = $1 AND worker = $2 AND attempts = $3 AND status = 'pending'
        RETURNING id`;
      return (await db.write(sql, [id, worker_id, attempt, progress])).length > 0;
    },

    endDelivery: async (id, worker_id, attempt, end) => {
      const [error, next_at, ended_at] =
        end.status === 'pending'
          ? [end.error, end.next_at, null]
          : [end.status === 'failed' ? end.error : null, null, end.at];
      const sql = `UPDATE deliveries SET status = $4, error = $5, next_at = coalesce($6, next_at), ended_at = $7, worker = NULL
        WHERE id = $1 AND worker = $2 AND attempts = $3 AND status = 'pending' RETURNING id`;
      const values = [id, worker_id, attempt, end.status, error, next_at, ended_at];
      return (await db.write(sql, values)).length > 0;
    },

    deliveries: async ({ status, kind, about, before, limit }) => {
      const { sql, values, next } = where({ about, kind }, [
        // A literal, so that the partial indexes of pending and failed deliveries can be used.
        status !== undefined && `status = '${status}'`,
        await below(db, 'deliveries', before),
      ]);
      const text = `SELECT * FROM deliveries ${sql} ORDER BY created_at DESC, ${row_number} DESC LIMIT ${next}`;
      return (await db.read(text, [...values, limit ?? NO_LIMIT])).map(deliveryOf);
    },

    findDeliveries: async (text) => {
      const sql = `SELECT * FROM deliveries WHERE id = $1 OR ${hasPrefix(db.dialect)} OR about = $1
        ORDER BY created_at DESC, ${row_number} DESC LIMIT ${MAX_FOUND}`;
      return exactMatchOrAll((await db.read(sql, [text])).map(deliveryOf), ({ id }) => id === text);
    },

    // An attempt under way is not interrupted.
    retryDeliveries: async (ids, at) => {
      const which =
        ids === null
          ? "status = 'failed'"
          : `status <> 'delivered' AND id IN (SELECT value FROM ${elements('$2')} AS e)`;
      const sql = `UPDATE deliveries SET status = 'pending', next_at = $1, ended_at = NULL WHERE ${which} AND worker IS NULL
        RETURNING id`;
      return (await db.write(sql, ids === null ? [at] : [at, JSON.stringify(ids)])).length;
    },

    cleanRuns: async (at, limit) => {
      // Needs no lock: once true, these conditions stay true.
      const sql = `SELECT r.agent_id, r.root_id, r.source FROM subagent_runs r
        WHERE r.cleanup = 'delete' AND r.finished_at IS NOT NULL AND r.cleaned_at IS NULL AND (r.source = 'cron' OR r.deliver <> '[]')
          AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.about = r.id AND d.status <> 'delivered')
          AND NOT EXISTS (SELECT 1 FROM mail m WHERE m.to_id = r.requester_id AND m.from_id = r.agent_id AND m.consumed_seq IS NULL)
        ORDER BY r.finished_at LIMIT $1`;
      const found = (await db.read(sql, [limit])) as { agent_id: string; root_id: string; source: string }[];
      for (const { agent_id, root_id, source } of found) {
        if (source === 'cron')
          while (!(await removeBatch(db, root_id, { most: REMOVAL_BATCH, runs: false, open: true })).done);
        const agent = [agent_id];
        await db.transact({ tree: [root_id], agent, run: agent, children: agent }, (unit) =>
          removeConversation(unit, agent_id, at),
        );
      }
      return found.map(({ agent_id }) => agent_id);
    },

    takeSeat: async (channel, worker_id) => {
      const sql = `INSERT INTO channel_seats AS s (channel, worker) SELECT $1, $2 WHERE ${hasLease('$2')} ON CONFLICT (channel) DO UPDATE SET worker = excluded.worker
        WHERE s.worker = $2 OR NOT EXISTS (SELECT 1 FROM workers w WHERE w.id = s.worker AND ${isWorkerAlive(db.dialect, '$3')}) RETURNING channel`;
      return (await db.write(sql, [channel, worker_id, await gone()])).length > 0;
    },

    leaveSeat: async (channel, worker_id) => {
      await db.write('DELETE FROM channel_seats WHERE channel = $1 AND worker = $2', [channel, worker_id]);
    },

    recall: async (channel, key) => {
      const sql = 'SELECT value FROM channel_notes WHERE channel = $1 AND key = $2';
      const [row] = await db.read(sql, [channel, key]);
      return (row?.value as string | undefined) ?? null;
    },

    remember: async (channel, key, value) => {
      const forget = 'DELETE FROM channel_notes WHERE channel = $1 AND key = $2';
      const keep = `INSERT INTO channel_notes (channel, key, value) VALUES ($1, $2, $3)
        ON CONFLICT (channel, key) DO UPDATE SET value = excluded.value`;
      await (value === null ? db.write(forget, [channel, key]) : db.write(keep, [channel, key, value]));
    },
  };
}
