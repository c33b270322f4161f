import { setImmediate as soon } from 'node:timers/promises';
import type { PastAgent } from '../../records/agent/estimate.ts';
import type { RunSource } from '../../records/run/run.ts';
import type { LoadReads, PlacedUsage } from '../load-ledger.ts';
import type { Database } from './database.ts';
import { placedRequestOf, type Row } from './rows.ts';
import { WORKING } from './sql-conditions.ts';

/** Maximum agents on which an estimate is based. */
const PAST_MAX = 200;

/** Each query reads a partial index or a small table, never the whole history. */
const LED = `WITH led AS MATERIALIZED (SELECT root_id, status, worker FROM agents WHERE worker IS NOT NULL)
  SELECT root_id, status, worker, count(*) AS n FROM led GROUP BY root_id, status, worker`;
const UNLED = `WITH waiting AS MATERIALIZED (SELECT u.root_id, (SELECT g.status FROM agents g WHERE g.id = u.agent_id) AS status FROM unled u)
  SELECT root_id, status, NULL AS worker, count(*) AS n FROM waiting GROUP BY root_id, status`;
const ASKS = `SELECT root_id, count(*) AS n, min(asked_at) AS since FROM asks WHERE verdict IS NULL GROUP BY root_id`;
const RUNS = `WITH open AS MATERIALIZED (SELECT source, started_at FROM subagent_runs WHERE finished_at IS NULL)
  SELECT source, count(*) AS n, count(started_at) AS started FROM open GROUP BY source`;
const DELIVERIES = `SELECT (SELECT count(*) FROM deliveries WHERE status = 'pending') AS pending,
  (SELECT count(*) FROM deliveries WHERE status = 'failed') AS failed`;

/** Reads for monitoring a whole ledger. */
export function loadReads(db: Database): LoadReads {
  const is_planned = `${db.dialect.isTrue('enabled')} AND next_at IS NOT NULL`;
  const SCHEDULES = `SELECT count(*) AS n, count(CASE WHEN next_at <= coppice_now() THEN 1 END) AS due FROM cron_jobs WHERE ${is_planned}`;
  return {
    load: async () => {
      // One after the other, with a turn of the event loop after each.
      const read = async (sql: string): Promise<Row[]> => {
        const rows = await db.read(sql);
        await soon();
        return rows;
      };
      const [led, unled, asks, runs] = [
        await read(LED),
        await read(UNLED),
        await read(ASKS),
        await read(RUNS),
      ];
      const [[deliveries], [schedules]] = [await read(DELIVERIES), await read(SCHEDULES)];
      return {
        agents: [...led, ...unled].map(({ n, ...one }) => ({ ...one, count: Number(n) }) as never),
        asks: asks.map(
          ({ n, since, ...one }) => ({ ...one, count: Number(n), since: Number(since) }) as never,
        ),
        runs: runs.map(({ source, n, started }) => ({
          source: source as RunSource,
          queued: Number(n) - Number(started),
          running: Number(started),
        })),
        deliveries: { pending: Number(deliveries?.pending), failed: Number(deliveries?.failed) },
        schedules: { enabled: Number(schedules?.n), due: Number(schedules?.due) },
      };
    },

    lastRequest: async () => {
      const [row] = await db.read('SELECT max(id) AS place FROM requests');
      return Number(row?.place ?? 0);
    },

    requestsAfter: async (place, limit) => {
      const sql = `SELECT q.*, (SELECT g.root_id FROM agents g WHERE g.id = q.agent_id) AS root_id FROM requests q
        WHERE q.id > $1 ORDER BY q.id LIMIT $2`;
      return (await db.read(sql, [place, limit])).map(placedRequestOf);
    },

    usageAfter: async (place, limit) => {
      const sql = `SELECT q.*, g.root_id, ${db.dialect.profile} AS profile FROM requests q JOIN agents g ON g.id = q.agent_id
        WHERE q.id > $1 ORDER BY q.id LIMIT $2`;
      const rows = await db.read(sql, [place, limit]);
      return rows.map((row) => ({ ...placedRequestOf(row), profile: row.profile }) as PlacedUsage);
    },

    pastAgents: async ({ profile, model }) => {
      const { profile: of_profile, model: of_model, row_number } = db.dialect;
      const own = 'q.agent_id = g.id ORDER BY q.id';
      const sql = `WITH past AS MATERIALIZED (SELECT id, status, input_tokens, cached_tokens, output_tokens, cost_usd FROM agents
          WHERE coalesce(${of_profile}, '') = $1 AND ${of_model} = $2 ORDER BY created_at DESC, ${row_number} DESC LIMIT ${PAST_MAX})
        SELECT input_tokens - cached_tokens + output_tokens AS tokens, cost_usd AS usd,
          (SELECT q.started_at FROM requests q WHERE ${own} LIMIT 1) AS began_at,
          (SELECT q.started_at + q.duration_ms FROM requests q WHERE ${own} DESC LIMIT 1) AS ended_at
        FROM past g WHERE NOT (${WORKING})`;
      const rows = await db.read(sql, [profile ?? '', model]);
      const asked = rows.filter(({ began_at }) => began_at !== null);
      return asked.map(({ tokens, usd, began_at, ended_at }): PastAgent => {
        const seconds = (Number(ended_at) - Number(began_at)) / 1_000;
        return { tokens: Number(tokens), usd: usd as number | null, seconds };
      });
    },
  };
}
