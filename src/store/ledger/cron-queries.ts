import { changeJob, createJob, fire, fireFactKeys, removeJob } from '../../kernel/ledger/cron-jobs.ts';
import type { CronLedger } from '../cron-ledger.ts';
import type { Database } from './database.ts';
import { definitionOf, fireOf, jobOf } from './rows.ts';
import { exactMatchOrAll, hasPrefix, MAX_FOUND, where } from './sql-conditions.ts';

/** If the clock is further than this behind the one that planned a job, it was set back. */
const SET_BACK_MS = 1_000;

/** Jobs and their instants. */
export function schedules(db: Database): CronLedger {
  const { isTrue, bytewise } = db.dialect;
  const planned = `${isTrue('enabled')} AND next_at IS NOT NULL`;
  return {
    jobs: async ({ root_id } = {}) => {
      const { sql, values } = where({ root_id });
      return (await db.read(`SELECT * FROM cron_jobs ${sql} ORDER BY name ${bytewise}`, values)).map(jobOf);
    },

    findJobs: async (text) => {
      const id = text.replace(/^cron:/, '').toLowerCase();
      const sql = `SELECT * FROM cron_jobs WHERE id = $1 OR ${hasPrefix(db.dialect)} OR name = $2
        ORDER BY name ${bytewise} LIMIT ${MAX_FOUND}`;
      const found = (await db.read(sql, [id, text])).map(jobOf);
      return exactMatchOrAll(found, (job) => job.name === text || job.id === id);
    },

    createJob: (job, next_at, most) => {
      const limited = most === undefined || job.root_id === null ? [] : [job.root_id];
      return db.transact({ job: [job.id], job_named: [job.name], enabled_jobs: limited }, (unit) =>
        createJob(unit, job, definitionOf(job), next_at, most),
      );
    },

    changeJob: (job, version, next_at, at, drops_waiting = false) =>
      db.transact(
        { job: [job.id], job_named: [job.name], waiting_fire: drops_waiting ? [job.id] : [] },
        (unit) => changeJob(unit, job, definitionOf(job), version, next_at, at, drops_waiting),
      ),

    removeJob: (id) => db.transact({ job: [id], waiting_fire: [id] }, (unit) => removeJob(unit, id)),

    dueJobs: async (at, limit) => {
      const waits = `f.outcome = 'queued'
        AND NOT EXISTS (SELECT 1 FROM subagent_runs r WHERE r.job_id = f.job_id AND r.finished_at IS NULL)`;
      const sql = `SELECT * FROM cron_jobs j LEFT JOIN cron_fires f ON f.job_id = j.id AND ${waits} WHERE j.id IN (
          SELECT id FROM cron_jobs WHERE ${planned} AND next_at <= $1
          UNION SELECT id FROM cron_jobs WHERE ${planned} AND planned_at > $2
          UNION SELECT f.job_id FROM cron_fires f WHERE ${waits}
        ) ORDER BY j.next_at LIMIT $3`;
      const rows = await db.read(sql, [at, at + SET_BACK_MS, limit]);
      return rows.map((row) => ({ ...jobOf(row), waiting: row.job_id === null ? null : fireOf(row) }));
    },

    nextDue: async () => {
      const [row] = await db.read(`SELECT min(next_at) AS at FROM cron_jobs WHERE ${planned}`);
      return row?.at as number | null;
    },

    fire: (request) => db.transact(fireFactKeys(request), (unit) => fire(unit, request)),

    replan: async (job_id, { version, next_at: before }, next_at, at) => {
      const sql = `UPDATE cron_jobs SET next_at = $4, planned_at = $5
        WHERE id = $1 AND version = $2 AND next_at IS NOT DISTINCT FROM CAST($3 AS bigint) RETURNING id`;
      return (await db.write(sql, [job_id, version, before, next_at, at])).length > 0;
    },

    fires: async (job_id, limit) => {
      const sql = 'SELECT * FROM cron_fires WHERE job_id = $1 ORDER BY fired_at DESC, instant DESC LIMIT $2';
      return (await db.read(sql, [job_id, limit])).map(fireOf);
    },
  };
}
