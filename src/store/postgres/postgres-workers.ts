import { hostname } from 'node:os';
import type { Agent } from '../../core/agent.ts';
import { isProcessGone } from '../process-gone.ts';
import { agentOf, workerOf } from '../rows.ts';
import { type KnownWorker, LEASE_MS, type Signal, type Worker } from '../store.ts';
import { LIVING } from './living.ts';
import { PostgresBase } from './postgres-base.ts';

const WORKING = `g.status IN ('requesting', 'executing', 'awaiting', 'cancelling', 'waiting')`;

/** Who leads what in the PostgreSQL ledger. */
export class PostgresWorkers extends PostgresBase {
  /** Workers of this host whose process is gone, whatever their lease says. */
  protected async gone(): Promise<string[]> {
    const sql = 'SELECT id, host, pid FROM workers';
    const known = (await this.query('all_workers', sql, [])) as unknown as Worker[];
    return known.filter((one) => isProcessGone(one, hostname())).map((one) => one.id);
  }

  async heartbeat(worker: Worker): Promise<boolean> {
    const sql = `WITH before AS (SELECT expires_at FROM workers WHERE id = $1)
      INSERT INTO workers (id, host, pid, role, labels, started_at, expires_at)
      VALUES ($1, $2, $3, $5, $6, coppice_now(), coppice_now() + $4)
      ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at
      RETURNING coalesce((SELECT before.expires_at > coppice_now() FROM before), true) AS alive`;
    const [row] = await this.query('heartbeat', sql, [
      worker.id,
      worker.host,
      worker.pid,
      LEASE_MS,
      worker.role ?? 'run',
      JSON.stringify(worker.labels ?? []),
    ]);
    return (row?.alive as unknown as boolean) === true;
  }

  async release(worker_id: string): Promise<void> {
    const sql = `WITH freed AS (UPDATE agents SET worker = NULL WHERE worker = $1),
      silent AS (DELETE FROM signals WHERE worker = $1),
      unseated AS (DELETE FROM channel_seats WHERE worker = $1) DELETE FROM workers WHERE id = $1`;
    await this.query('release', sql, [worker_id]);
  }

  async claim(root_id: string, worker: Worker): Promise<Agent[]> {
    const gone = (await this.gone()).filter((id) => id !== worker.id);
    // The look at the workers is made anew for a row that another claim has just changed, unlike a join: so one of two claims wins.
    const sql = `UPDATE agents SET worker = $2, epoch = epoch + 1,
        deaths = deaths + CASE WHEN worker IS NOT NULL AND status = 'executing' AND coppice_runs_call(state) THEN 1 ELSE 0 END
      WHERE id IN (
        SELECT g.id FROM agents g WHERE g.root_id = $1 AND g.${LIVING} AND (g.worker IS NULL OR NOT EXISTS (
          SELECT 1 FROM workers w WHERE w.id = g.worker AND w.expires_at > coppice_now() AND NOT w.id = ANY ($3::text[])))
        FOR UPDATE OF g SKIP LOCKED
      ) RETURNING *`;
    return (await this.query('claim', sql, [root_id, worker.id, gone])).map(agentOf);
  }

  async unledTrees(limit: number, labels: readonly string[] = []): Promise<string[]> {
    const sql = `WITH alive AS MATERIALIZED (
        SELECT id FROM workers WHERE expires_at > coppice_now() AND NOT id = ANY ($2::text[])
      ) SELECT root_id FROM (
        SELECT g.root_id FROM agents g WHERE ${WORKING}
          AND (g.worker IS NULL OR NOT EXISTS (SELECT 1 FROM alive WHERE alive.id = g.worker))
        UNION
        SELECT g.root_id FROM mail m JOIN agents g ON g.id = m.to_id WHERE m.consumed_seq IS NULL AND g.${LIVING}
          AND (g.worker IS NULL OR NOT EXISTS (SELECT 1 FROM alive WHERE alive.id = g.worker))
      ) AS left_alone JOIN trees USING (root_id)
      WHERE trees.served AND (trees.placement = '[]' OR trees.placement::jsonb <@ $3::jsonb) LIMIT $1`;
    const rows = await this.query('unled_trees', sql, [limit, await this.gone(), JSON.stringify(labels)]);
    return rows.map((row) => row.root_id as string);
  }

  async serveTree(root_id: string): Promise<void> {
    await this.query('serve_tree', 'UPDATE trees SET served = true WHERE root_id = $1', [root_id]);
  }

  async releaseTree(root_id: string, worker_id: string): Promise<void> {
    const sql = 'UPDATE agents SET worker = NULL WHERE root_id = $1 AND worker = $2';
    await this.query('release_tree', sql, [root_id, worker_id]);
  }

  async signals(worker_id: string): Promise<Signal[]> {
    const rows = await this.query(
      'signals',
      'DELETE FROM signals WHERE worker = $1 RETURNING id, agent_id, kind, about',
      [worker_id],
    );
    rows.sort((a, b) => (a.id as number) - (b.id as number));
    return rows.map(({ agent_id, kind, about }) => ({ agent_id, kind, about }) as Signal);
  }

  async workers(): Promise<KnownWorker[]> {
    const sql = 'SELECT * FROM workers WHERE expires_at > coppice_now() ORDER BY started_at, id';
    return (await this.query('workers', sql, [])).map(workerOf);
  }

  async ledBy(worker_ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const sql = 'SELECT worker, count(*) AS n FROM agents WHERE worker = ANY ($1::text[]) GROUP BY worker';
    const rows = await this.query('led_by', sql, [worker_ids]);
    return new Map(rows.map((row) => [row.worker as string, Number(row.n)]));
  }

  async drainWorker(worker_id: string): Promise<boolean> {
    const sql = 'UPDATE workers SET draining = true WHERE id = $1 RETURNING id';
    return (await this.query('drain_worker', sql, [worker_id])).length > 0;
  }
}
