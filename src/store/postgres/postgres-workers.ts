import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Agent } from '../../core/agent.ts';
import { isProcessGone } from '../process-gone.ts';
import { agentOf, workerOf } from '../rows.ts';
import { type KnownWorker, LEASE_MS, type Signal, type Worker } from '../store.ts';
import { PostgresBase } from './postgres-base.ts';

/** So many agents change hands in one transaction. */
const FREED_AT_ONCE = 5_000;
/** Whoever holds an agent and is not alive ($1: those of this host that are seen to be gone), and dead workers that hold none: a jump from holder to holder. */
const DEAD = `WITH RECURSIVE holder (worker) AS (
    (SELECT worker FROM agents WHERE worker IS NOT NULL ORDER BY worker LIMIT 1)
    UNION ALL
    SELECT (SELECT g.worker FROM agents g WHERE g.worker > holder.worker ORDER BY g.worker LIMIT 1) FROM holder WHERE holder.worker IS NOT NULL
  ), alive AS (SELECT id FROM workers WHERE expires_at > coppice_now() AND NOT id = ANY ($1::text[]))
  SELECT worker AS id FROM holder WHERE worker IS NOT NULL AND NOT EXISTS (SELECT 1 FROM alive WHERE alive.id = worker)
  UNION SELECT id FROM workers WHERE NOT EXISTS (SELECT 1 FROM alive WHERE alive.id = workers.id)`;
/** From tree to tree likewise, those that are due longest first; a tree comes once for each time at which something in it was due. */
const UNLED = `WITH RECURSIVE tree (due_at, root_id) AS (
    (SELECT due_at, root_id FROM unled ORDER BY due_at, root_id LIMIT 1)
    UNION ALL
    SELECT next.due_at, next.root_id FROM tree, LATERAL (
      SELECT u.due_at, u.root_id FROM unled u WHERE (u.due_at, u.root_id) > (tree.due_at, tree.root_id) ORDER BY u.due_at, u.root_id LIMIT 1) AS next
    WHERE tree.due_at <= coppice_now()
  ) SELECT root_id FROM tree WHERE due_at <= coppice_now()
    AND (SELECT t.placement = '[]' OR t.placement::jsonb <@ $2::jsonb FROM trees t WHERE t.root_id = tree.root_id) LIMIT $1`;
/** So many looks at one tree are made up for. */
const LOOKS_AT_A_TREE = 4;

/** Who leads what in the PostgreSQL ledger. */
export class PostgresWorkers extends PostgresBase {
  /** Trees whose claim was sent and never answered, each with the token by which the ledger knows it again. */
  readonly #unsure = new Map<string, string>();
  /** Workers that were entered through here and not taken out again. */
  readonly #entered = new Set<string>();
  /** Ids of signals that were handed out; the next look takes them away, so that none is lost with an answer. */
  #heard: readonly number[] = [];

  /** Workers of this host whose process is gone, whatever their lease says. */
  protected async gone(): Promise<string[]> {
    const sql = 'SELECT id, host, pid FROM workers';
    const known = (await this.read('all_workers', sql, [])) as unknown as Worker[];
    return known.filter((one) => isProcessGone(one, hostname())).map((one) => one.id);
  }

  async heartbeat(worker: Worker): Promise<boolean> {
    const sql = `WITH before AS (SELECT expires_at FROM workers WHERE id = $1)
      INSERT INTO workers (id, host, pid, role, labels, started_at, expires_at)
      VALUES ($1, $2, $3, $5, $6, coppice_now(), coppice_now() + $4)
      ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at
      RETURNING (SELECT before.expires_at FROM before) AS before, (SELECT before.expires_at > coppice_now() FROM before) AS alive`;
    const [row] = await this.query('heartbeat', sql, [
      worker.id,
      worker.host,
      worker.pid,
      LEASE_MS,
      worker.role ?? 'run',
      JSON.stringify(worker.labels ?? []),
    ]);
    const known = this.#entered.has(worker.id);
    this.#entered.add(worker.id);
    // Gone from the table, it was taken for dead.
    return row?.before === null ? !known : (row?.alive as unknown as boolean);
  }

  async release(worker_id: string): Promise<void> {
    await this.#free(worker_id, null);
    const sql = `WITH silent AS (DELETE FROM signals WHERE worker = $1), unseated AS (DELETE FROM channel_seats WHERE worker = $1)
      DELETE FROM workers WHERE id = $1`;
    await this.query('release', sql, [worker_id]);
    this.#entered.delete(worker_id);
  }

  /** In pieces, so that no transaction is long. */
  async #free(
    worker_id: string,
    root_id: string | null,
    parked: ReadonlyMap<string, number> = new Map(),
  ): Promise<void> {
    const until = [...parked].map(([id, at]) => [id, Number.isFinite(at) ? Math.ceil(at) : -1]);
    const sql = 'SELECT coppice_free($1, $2, $3, false, $4) AS freed';
    let freed = FREED_AT_ONCE;
    while (freed === FREED_AT_ONCE) {
      const [row] = await this.query('free', sql, [
        worker_id,
        root_id,
        FREED_AT_ONCE,
        JSON.stringify(Object.fromEntries(until)),
      ]);
      freed = Number(row?.freed);
    }
  }

  async claim(root_id: string, worker: Worker): Promise<Agent[]> {
    const gone = (await this.gone()).filter((id) => id !== worker.id);
    const token = this.#unsure.get(root_id) ?? randomUUID();
    try {
      const sql = 'SELECT * FROM coppice_claim($1, $2, $3, $4)';
      const rows = await this.query('claim', sql, [root_id, worker.id, gone, token]);
      this.#unsure.delete(root_id);
      return rows.map(agentOf);
    } catch (error) {
      this.#unsure.set(root_id, token);
      throw error;
    }
  }

  async unledTrees(limit: number, labels: readonly string[] = []): Promise<string[]> {
    const gone = await this.gone();
    for (const { id } of await this.read('dead', DEAD, [gone])) await this.#bury(id as string, gone);
    const most = limit * LOOKS_AT_A_TREE;
    const rows = await this.read('unled_trees', UNLED, [most, JSON.stringify(labels)]);
    const unled = rows.map((row) => row.root_id as string);
    return [...new Set([...this.#unsure.keys(), ...unled])].slice(0, limit);
  }

  /** What a dead worker led is led by nobody, once and for all: nobody has to look at it again while nothing is to be done there. */
  async #bury(dead: string, gone: readonly string[]): Promise<void> {
    const sql = 'SELECT coppice_bury($1, $2, $3) AS freed';
    let freed = FREED_AT_ONCE;
    while (freed === FREED_AT_ONCE) {
      const [row] = await this.query('bury', sql, [dead, gone, FREED_AT_ONCE]);
      freed = Number(row?.freed);
    }
  }

  async placement(root_id: string): Promise<readonly string[] | null> {
    const sql = 'SELECT placement FROM trees WHERE root_id = $1 AND served';
    const [row] = await this.read('placement', sql, [root_id]);
    return row === undefined ? null : JSON.parse(row.placement as string);
  }

  async serveTree(root_id: string): Promise<void> {
    await this.query('serve_tree', 'SELECT coppice_serve($1)', [root_id]);
  }

  async releaseTree(root_id: string, worker_id: string, parked?: ReadonlyMap<string, number>): Promise<void> {
    await this.#free(worker_id, root_id, parked);
  }

  async signals(worker_id: string): Promise<Signal[]> {
    const look = 'SELECT id, agent_id, kind, about FROM signals WHERE worker = $1';
    const heard = this.#heard;
    const rows =
      heard.length === 0
        ? await this.query('signals', `${look} ORDER BY id`, [worker_id])
        : await this.query(
            'more_signals',
            `WITH heard AS (DELETE FROM signals WHERE id = ANY ($2::bigint[])) ${look} AND NOT id = ANY ($2::bigint[]) ORDER BY id`,
            [worker_id, heard],
          );
    this.#heard = rows.map((row) => row.id as number);
    return rows.map(({ agent_id, kind, about }) => ({ agent_id, kind, about }) as Signal);
  }

  async workers(): Promise<KnownWorker[]> {
    const sql = 'SELECT * FROM workers WHERE expires_at > coppice_now() ORDER BY started_at, id';
    return (await this.read('workers', sql, [])).map(workerOf);
  }

  async ledBy(worker_ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const sql = 'SELECT worker, count(*) AS n FROM agents WHERE worker = ANY ($1::text[]) GROUP BY worker';
    const rows = await this.read('led_by', sql, [worker_ids]);
    return new Map(rows.map((row) => [row.worker as string, Number(row.n)]));
  }

  async drainWorker(worker_id: string): Promise<boolean> {
    const sql = 'UPDATE workers SET draining = true WHERE id = $1 RETURNING id';
    return (await this.query('drain_worker', sql, [worker_id])).length > 0;
  }
}
