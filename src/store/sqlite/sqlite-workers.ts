import type { StatementSync } from 'node:sqlite';
import type { Agent } from '../../core/agent.ts';
import { agentOf, type Row, workerOf } from '../rows.ts';
import { type KnownWorker, LEASE_MS, type Signal, type Worker } from '../store.ts';
import type { Commit } from './commit.ts';
import { SqliteBase } from './sqlite-base.ts';

/** So many agents change hands in one transaction. */
const FREED_AT_ONCE = 5_000;

/**
 * Who leads what in the SQLite ledger. `unled` holds every agent of a served tree that has something to do (it is at work, or there is mail for it) and
 * no worker, with the time before which nobody need come, so that nobody has to look for such agents among those that are parked.
 */
export class SqliteWorkers extends SqliteBase {
  /** Workers that were entered through here and not taken out again. */
  readonly #entered = new Set<string>();

  async heartbeat(worker: Worker): Promise<boolean> {
    const alive = this.transaction(() => {
      const now = this.clock();
      const before = (this.sql.worker.get(worker.id) as Row | undefined)?.expires_at as number | undefined;
      const { id, host, pid, role = 'run', labels = [] } = worker;
      this.sql.putWorker.run(id, host, pid, role, JSON.stringify(labels), now, now + LEASE_MS);
      // Gone from the table, it was taken for dead.
      return before === undefined ? !this.#entered.has(id) : before > now;
    });
    this.#entered.add(worker.id);
    return alive;
  }

  async release(worker_id: string): Promise<void> {
    this.#dissolve(worker_id, this.sql.free, () => true);
    this.#entered.delete(worker_id);
  }

  /** Takes everything from a worker and removes it, in pieces, so that no transaction is long. */
  #dissolve(worker_id: string, free: StatementSync, mayGo: () => boolean): void {
    const piece = (commit: Commit): number => {
      if (!mayGo()) return 0;
      const ids = (this.sql.heldBy.all(worker_id, FREED_AT_ONCE) as Row[]).map(({ id }) => id as string);
      for (const id of ids) free.run(id);
      commit.seekLeader(ids);
      if (ids.length < FREED_AT_ONCE) this.#remove(worker_id);
      return ids.length;
    };
    while (this.transaction(piece) === FREED_AT_ONCE);
  }

  #remove(worker_id: string): void {
    this.sql.deleteSignals.run(worker_id);
    this.sql.deleteSeats.run(worker_id);
    this.sql.deleteWorker.run(worker_id);
  }

  async claim(root_id: string, worker: Worker): Promise<Agent[]> {
    return this.transaction(() => {
      const alive = new Set(this.living(worker.host));
      const free = (this.sql.claimable.all(root_id) as Row[]).filter(
        (row) => row.worker === null || !alive.has(row.worker as string),
      );
      return free.map((row) => {
        this.sql.claim.run(worker.id, row.id as string);
        this.sql.leaveUnled.run(row.id as string);
        return agentOf(this.sql.agent.get(row.id as string) as Row);
      });
    });
  }

  async unledTrees(limit: number, labels: readonly string[] = []): Promise<string[]> {
    for (const dead of this.read(() => this.#dead())) this.#bury(dead);
    return this.read(() => {
      const rows = this.sql.unledTrees.all(JSON.stringify(labels), limit, this.clock()) as Row[];
      return rows.map((row) => row.root_id as string);
    });
  }

  /** Whoever holds an agent and is not alive, and dead workers that hold none: a jump from holder to holder. */
  #dead(): string[] {
    const alive = new Set(this.living());
    const dead = new Set((this.sql.allWorkers.all() as Row[]).map(({ id }) => id as string));
    let next = this.sql.nextHolder.get('') as Row | undefined;
    for (; next !== undefined; next = this.sql.nextHolder.get(next.worker as string) as Row | undefined)
      dead.add(next.worker as string);
    return [...dead].filter((id) => !alive.has(id));
  }

  /**
   * What a dead worker led is led by nobody, once and for all: nobody has to look at it again while nothing is to be done there. Epochs rise:
   * should it wake up, it is fenced out.
   */
  #bury(dead: string): void {
    this.#dissolve(dead, this.sql.bury, () => !this.living().includes(dead));
  }

  async placement(root_id: string): Promise<readonly string[] | null> {
    const row = this.read(() => this.sql.placement.get(root_id)) as Row | undefined;
    return row === undefined ? null : JSON.parse(row.placement as string);
  }

  async serveTree(root_id: string): Promise<void> {
    this.transaction((commit) => commit.serve(root_id));
  }

  async releaseTree(
    root_id: string,
    worker_id: string,
    parked: ReadonlyMap<string, number> = new Map(),
  ): Promise<void> {
    this.transaction((commit) => {
      const ids = (this.sql.heldInTree.all(root_id, worker_id) as Row[]).map(({ id }) => id as string);
      for (const id of ids) this.sql.free.run(id);
      commit.seekLeader(ids, parked);
      const told = (this.sql.toldOf.all(worker_id) as Row[]).map(({ agent_id }) => agent_id as string);
      commit.seekLeader(told.filter((id) => parked.has(id)));
    });
  }

  async signals(worker_id: string): Promise<Signal[]> {
    // A look is not a write: most wake-ups are about something else.
    if (this.read(() => this.sql.anySignal.get(worker_id)) === undefined) return [];
    const rows = this.transaction(() => this.sql.takeSignals.all(worker_id) as Row[]);
    rows.sort((a, b) => (a.id as number) - (b.id as number));
    return rows.map(({ agent_id, kind, about }) => ({ agent_id, kind, about }) as Signal);
  }

  async workers(): Promise<KnownWorker[]> {
    return (this.read(() => this.sql.livingWorkers.all(this.clock())) as Row[]).map(workerOf);
  }

  async ledBy(worker_ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const sql = `SELECT worker, count(*) AS n FROM agents WHERE worker IN (SELECT value FROM json_each(?)) GROUP BY worker`;
    const rows = this.read(() => this.rows(sql, JSON.stringify(worker_ids)));
    return new Map(rows.map((row) => [row.worker as string, row.n as number]));
  }

  async drainWorker(worker_id: string): Promise<boolean> {
    return this.transaction(() => this.sql.drainWorker.run(worker_id).changes > 0);
  }
}
