import type { CronFire, CronJob, NewCronJob } from '../../core/cron-job.ts';
import type { CronLedger, FireRequest, FireVerdict } from '../cron-ledger.ts';
import { definitionOf, fireOf, jobOf } from '../rows.ts';
import { where } from '../where.ts';
import { encodeAgentObject, encodeMailObject } from './encode.ts';
import { PostgresWorkers } from './postgres-workers.ts';

const MAX_FOUND = 20;
/** A clock that stands more than this before the one that planned was set back. */
const SET_BACK_MS = 1_000;

/** Schedules in the PostgreSQL ledger. */
export class PostgresCron extends PostgresWorkers implements CronLedger {
  async jobs({ root_id }: { readonly root_id?: string } = {}): Promise<CronJob[]> {
    const { sql, values } = where('$', { root_id });
    return (await this.read('jobs', `SELECT * FROM cron_jobs ${sql} ORDER BY name COLLATE "C"`, values)).map(
      jobOf,
    );
  }

  async findJobs(text: string): Promise<CronJob[]> {
    const id = text.replace(/^cron:/, '').toLowerCase();
    const sql = `SELECT * FROM cron_jobs WHERE name = $1 OR id = $2 OR (length($2) >= 4 AND id ~>=~ $2 AND id ~<~ ($2 || 'g'))
      ORDER BY name COLLATE "C" LIMIT ${MAX_FOUND}`;
    const found = (await this.read('find_jobs', sql, [text, id])).map(jobOf);
    const exact = found.find((job) => job.name === text || job.id === id);
    return exact === undefined ? found : [exact];
  }

  async createJob(
    job: NewCronJob,
    next_at: number | null,
    most?: number,
  ): Promise<'created' | 'there' | 'name' | 'limit'> {
    const { id, name, root_id, enabled, created_at } = job;
    const row = { id, name, root_id, enabled, created_at, next_at, definition: definitionOf(job) };
    const [made] = await this.query('create_job', 'SELECT coppice_create_job($1::jsonb, $2) AS made', [
      JSON.stringify(row),
      most ?? null,
    ]);
    return made?.made as 'created' | 'there' | 'name' | 'limit';
  }

  async changeJob(
    job: NewCronJob,
    version: number,
    next_at: number | null,
    at: number,
  ): Promise<'changed' | 'name' | 'stale'> {
    const sql = `WITH taken AS (SELECT 1 FROM cron_jobs WHERE name = $2 AND id <> $1),
      changed AS (
        UPDATE cron_jobs SET name = $2, definition = $3, enabled = $4, next_at = $5, planned_at = $6, updated_at = $6, version = version + 1
        WHERE id = $1 AND version = $7 AND NOT EXISTS (SELECT 1 FROM taken) RETURNING id
      ) SELECT EXISTS (SELECT 1 FROM taken) AS taken, EXISTS (SELECT 1 FROM changed) AS changed`;
    const [row] = await this.query('change_job', sql, [
      job.id,
      job.name,
      definitionOf(job),
      job.enabled,
      next_at,
      at,
      version,
    ]);
    if (row?.taken) return 'name';
    return row?.changed ? 'changed' : 'stale';
  }

  async removeJob(id: string): Promise<boolean> {
    const sql = `WITH waiting AS (DELETE FROM cron_fires WHERE job_id = $1 AND outcome = 'queued')
      DELETE FROM cron_jobs WHERE id = $1 RETURNING id`;
    return (await this.query('remove_job', sql, [id])).length > 0;
  }

  async dueJobs(at: number, limit: number): ReturnType<CronLedger['dueJobs']> {
    const sql = `SELECT j.*, to_jsonb(f) AS waiting FROM cron_jobs j
      LEFT JOIN cron_fires f ON f.job_id = j.id AND f.outcome = 'queued' AND NOT coppice_is_job_at_work(j.id)
      WHERE j.id IN (
        SELECT id FROM cron_jobs WHERE enabled AND next_at IS NOT NULL AND next_at <= $1
        UNION SELECT id FROM cron_jobs WHERE enabled AND next_at IS NOT NULL AND planned_at > $2
        UNION SELECT q.job_id FROM cron_fires q WHERE q.outcome = 'queued' AND NOT coppice_is_job_at_work(q.job_id)
      ) ORDER BY j.next_at LIMIT $3`;
    const rows = await this.read('due_jobs', sql, [at, at + SET_BACK_MS, limit]);
    return rows.map((row) => ({
      ...jobOf(row),
      waiting: row.waiting === null ? null : fireOf(row.waiting as never),
    }));
  }

  async nextDue(): Promise<number | null> {
    const sql = 'SELECT min(next_at) AS at FROM cron_jobs WHERE enabled AND next_at IS NOT NULL';
    const [row] = await this.read('next_due', sql, []);
    return row?.at as number | null;
  }

  async fire(request: FireRequest): Promise<FireVerdict> {
    const { begin } = request;
    const encoded =
      begin.type === 'event'
        ? { type: 'event', mail: encodeMailObject(begin.mail) }
        : {
            type: 'run',
            root: encodeAgentObject(begin.root),
            limits: JSON.stringify(begin.limits),
            placement: begin.placement,
            letter: encodeMailObject(begin.letter),
          };
    const [row] = await this.query('fire', 'SELECT coppice_fire($1::jsonb) AS outcome', [
      JSON.stringify({ ...request, begin: encoded }),
    ]);
    return { outcome: row?.outcome as FireVerdict['outcome'] };
  }

  async replan(
    job_id: string,
    seen: { readonly version: number; readonly next_at: number | null },
    next_at: number | null,
    at: number,
  ): Promise<boolean> {
    const sql = `UPDATE cron_jobs SET next_at = $4, planned_at = $5
      WHERE id = $1 AND version = $2 AND next_at IS NOT DISTINCT FROM $3::bigint RETURNING id`;
    return (await this.query('replan', sql, [job_id, seen.version, seen.next_at, next_at, at])).length > 0;
  }

  async fires(job_id: string, limit: number): Promise<CronFire[]> {
    const sql = 'SELECT * FROM cron_fires WHERE job_id = $1 ORDER BY fired_at DESC, instant DESC LIMIT $2';
    return (await this.read('fires', sql, [job_id, limit])).map(fireOf);
  }
}
