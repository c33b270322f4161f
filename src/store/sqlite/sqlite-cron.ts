import type { CronFire, CronJob, NewCronJob } from '../../core/cron-job.ts';
import { isTerminal } from '../../core/state.ts';
import type { CronLedger, FireRequest, FireVerdict } from '../cron-ledger.ts';
import { definitionOf, fireOf, jobOf, type Row } from '../rows.ts';
import { where } from '../where.ts';
import type { Commit } from './commit.ts';
import type { GuardRow } from './guard-row.ts';
import { SqliteWorkers } from './sqlite-workers.ts';

const MAX_FOUND = 20;
/** A clock that stands more than this before the one that planned was set back. */
const SET_BACK_MS = 1_000;

/** Schedules in the SQLite ledger. */
export class SqliteCron extends SqliteWorkers implements CronLedger {
  async jobs({ root_id }: { readonly root_id?: string } = {}): Promise<CronJob[]> {
    const { sql, values } = where('?', { root_id });
    return this.read(() => this.rows(`SELECT * FROM cron_jobs ${sql} ORDER BY name`, ...values)).map(jobOf);
  }

  async findJobs(text: string): Promise<CronJob[]> {
    const id = text.replace(/^cron:/, '').toLowerCase();
    const prefix = id.length >= 4 ? [id, `${id}\u{10ffff}`] : [id, id];
    const sql = `SELECT * FROM cron_jobs WHERE name = ?1 OR id = ?2 OR (id >= ?2 AND id < ?3) ORDER BY name LIMIT ${MAX_FOUND}`;
    const found = this.read(() => this.rows(sql, text, ...(prefix as [string, string]))).map(jobOf);
    const exact = found.find((job) => job.name === text || job.id === id);
    return exact === undefined ? found : [exact];
  }

  async createJob(
    job: NewCronJob,
    next_at: number | null,
    most?: number,
  ): Promise<'created' | 'there' | 'name' | 'limit'> {
    return this.transaction(() => this.#create(job, next_at, most));
  }

  #create(
    job: NewCronJob,
    next_at: number | null,
    most: number | undefined,
  ): 'created' | 'there' | 'name' | 'limit' {
    if (this.rows('SELECT 1 FROM cron_jobs WHERE id = ?', job.id).length > 0) return 'there';
    if (this.#isTaken(job)) return 'name';
    const { root_id, created_at } = job;
    const enabled = 'SELECT count(*) AS n FROM cron_jobs WHERE root_id = ? AND enabled = 1';
    if (most !== undefined && ((this.rows(enabled, root_id)[0] as Row).n as number) >= most) return 'limit';
    this.write(
      `INSERT INTO cron_jobs (id, name, root_id, definition, enabled, next_at, planned_at, created_at, updated_at)
      VALUES (?,?,?,?,?,?,?,?,?)`,
      job.id,
      job.name,
      root_id,
      definitionOf(job),
      job.enabled ? 1 : 0,
      next_at,
      created_at,
      created_at,
      created_at,
    );
    return 'created';
  }

  #isTaken({ id, name }: NewCronJob): boolean {
    return this.rows('SELECT 1 FROM cron_jobs WHERE name = ? AND id <> ?', name, id).length > 0;
  }

  async changeJob(
    job: NewCronJob,
    version: number,
    next_at: number | null,
    at: number,
  ): Promise<'changed' | 'name' | 'stale'> {
    return this.transaction(() => this.#change(job, version, next_at, at));
  }

  #change(
    job: NewCronJob,
    version: number,
    next_at: number | null,
    at: number,
  ): 'changed' | 'name' | 'stale' {
    if (this.#isTaken(job)) return 'name';
    const changed = this.write(
      `UPDATE cron_jobs SET name = ?, definition = ?, enabled = ?, next_at = ?, planned_at = ?, updated_at = ?,
      version = version + 1 WHERE id = ? AND version = ?`,
      job.name,
      definitionOf(job),
      job.enabled ? 1 : 0,
      next_at,
      at,
      at,
      job.id,
      version,
    );
    return changed > 0 ? 'changed' : 'stale';
  }

  async removeJob(id: string): Promise<boolean> {
    return this.transaction(() => {
      this.write("DELETE FROM cron_fires WHERE job_id = ? AND outcome = 'queued'", id);
      return this.write('DELETE FROM cron_jobs WHERE id = ?', id) > 0;
    });
  }

  async dueJobs(at: number, limit: number): ReturnType<CronLedger['dueJobs']> {
    return this.read(() => this.#due(at, limit));
  }

  #due(at: number, limit: number): (CronJob & { readonly waiting: CronFire | null })[] {
    const rows = this.rows(
      `SELECT * FROM cron_jobs WHERE id IN (
        SELECT id FROM cron_jobs WHERE enabled = 1 AND next_at IS NOT NULL AND next_at <= ?1
        UNION SELECT id FROM cron_jobs WHERE enabled = 1 AND next_at IS NOT NULL AND planned_at > ?2
        UNION SELECT f.job_id FROM cron_fires f WHERE f.outcome = 'queued'
          AND NOT EXISTS (SELECT 1 FROM subagent_runs r WHERE r.job_id = f.job_id AND r.finished_at IS NULL)
      ) ORDER BY next_at LIMIT ?3`,
      at,
      at + SET_BACK_MS,
      limit,
    );
    return rows.map((row) => ({
      ...jobOf(row),
      waiting: this.#isAtWork(row.id as string) ? null : this.#waiting(row.id as string),
    }));
  }

  #waiting(job_id: string): CronFire | null {
    const [row] = this.rows("SELECT * FROM cron_fires WHERE job_id = ? AND outcome = 'queued'", job_id);
    return row === undefined ? null : fireOf(row);
  }

  #isAtWork(job_id: string): boolean {
    const sql = 'SELECT 1 FROM subagent_runs WHERE job_id = ? AND finished_at IS NULL LIMIT 1';
    return this.rows(sql, job_id).length > 0;
  }

  async nextDue(): Promise<number | null> {
    const sql = 'SELECT min(next_at) AS at FROM cron_jobs WHERE enabled = 1 AND next_at IS NOT NULL';
    return (this.read(() => this.rows(sql))[0] as Row).at as number | null;
  }

  async fire(request: FireRequest): Promise<FireVerdict> {
    return this.transaction((commit) => this.#fire(commit, request));
  }

  #fire(commit: Commit, request: FireRequest): FireVerdict {
    const [row] = this.rows('SELECT * FROM cron_jobs WHERE id = ?', request.job_id);
    if (row === undefined) return { outcome: 'stale' };
    const waiting = this.#waiting(request.job_id);
    if (request.waited) return this.#fireWaiting(commit, request, waiting);
    const { job_id, instant, manual, at } = request;
    const seen = row.version === request.version && row.next_at === request.next_at;
    if (!manual && (!seen || row.enabled !== 1)) return { outcome: 'stale' };
    if (!manual) this.#advance(request);
    if (this.#isFired(request)) return { outcome: 'stale' };
    const outcome = this.#outcome(request, waiting);
    const run_id = outcome === 'fired' ? this.#begin(commit, request) : null;
    this.write(
      'INSERT INTO cron_fires (job_id, instant, manual, outcome, missed, run_id, fired_at) VALUES (?,?,?,?,?,?,?)',
      job_id,
      instant,
      manual ? 1 : 0,
      outcome,
      request.missed,
      run_id,
      at,
    );
    return { outcome };
  }

  #fireWaiting(commit: Commit, request: FireRequest, waiting: CronFire | null): FireVerdict {
    const { job_id, instant, manual } = request;
    const same = waiting !== null && waiting.instant === instant && waiting.manual === manual;
    if (!same || this.#isAtWork(job_id)) return { outcome: 'stale' };
    this.write(
      "UPDATE cron_fires SET outcome = 'fired', run_id = ? WHERE job_id = ? AND instant = ? AND manual = ?",
      this.#begin(commit, request),
      job_id,
      instant,
      manual ? 1 : 0,
    );
    return { outcome: 'fired' };
  }

  #advance({ job_id, then_at, at, disable }: FireRequest): void {
    this.write(
      'UPDATE cron_jobs SET next_at = ?, planned_at = ?, enabled = CASE WHEN ? THEN 0 ELSE enabled END WHERE id = ?',
      disable ? null : then_at,
      at,
      disable ? 1 : 0,
      job_id,
    );
  }

  #isFired({ job_id, instant, manual }: FireRequest): boolean {
    const sql = 'SELECT 1 FROM cron_fires WHERE job_id = ? AND instant = ? AND manual = ?';
    return this.rows(sql, job_id, instant, manual ? 1 : 0).length > 0;
  }

  #outcome(
    { job_id, overlap, begin }: FireRequest,
    waiting: CronFire | null,
  ): 'fired' | 'queued' | 'skipped' {
    if (begin.type === 'event') return this.#isAlive(begin.mail.to_id) ? 'fired' : 'skipped';
    if (waiting === null && !this.#isAtWork(job_id)) return 'fired';
    return overlap === 'queue' && waiting === null ? 'queued' : 'skipped';
  }

  #isAlive(agent_id: string): boolean {
    const row = this.sql.guard.get(agent_id) as unknown as GuardRow | undefined;
    return row !== undefined && row.closed === 0 && !isTerminal(row.status);
  }

  #begin(commit: Commit, { begin }: FireRequest): string | null {
    if (begin.type === 'event') {
      commit.serve(begin.mail.root_id);
      commit.post(begin.mail, null);
      return null;
    }
    commit.createRoot(begin.root, begin.limits, { served: true, placement: begin.placement });
    commit.post(begin.letter, null);
    return begin.root.run?.id ?? null;
  }

  async replan(
    job_id: string,
    seen: { readonly version: number; readonly next_at: number | null },
    next_at: number | null,
    at: number,
  ): Promise<boolean> {
    const sql =
      'UPDATE cron_jobs SET next_at = ?, planned_at = ? WHERE id = ? AND version = ? AND next_at IS ?';
    return this.transaction(() => this.write(sql, next_at, at, job_id, seen.version, seen.next_at) > 0);
  }

  async fires(job_id: string, limit: number): Promise<CronFire[]> {
    const sql = 'SELECT * FROM cron_fires WHERE job_id = ? ORDER BY fired_at DESC, instant DESC LIMIT ?';
    return this.read(() => this.rows(sql, job_id, limit)).map(fireOf);
  }
}
