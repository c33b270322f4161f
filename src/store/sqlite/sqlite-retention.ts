import type { ArchiveEntry } from '../archive-entry.ts';
import {
  KEPT_FIRES,
  type OldEntry,
  type OldKind,
  type OldTree,
  type RetentionLedger,
  type RetentionTerms,
  ROOTS_AT_ONCE,
  type TreeRows,
} from '../retention-ledger.ts';
import { deliveryOf, fireOf, type Row, runOf } from '../rows.ts';
import { treeEntries } from '../tree-entries.ts';
import { deleteConversation } from './remove-agent.ts';
import { SqliteOutbox } from './sqlite-outbox.ts';

const TERMINAL = "('completed', 'failed', 'killed')";
const WORKING = "('requesting', 'executing', 'awaiting', 'cancelling', 'waiting')";

/** ?1 the tree, ?2 the time before which nothing must have happened, ?3 whether the root may rest, ?4 workers that live. */
const MAY_GO = `SELECT 1 FROM agents r WHERE r.id = ?1 AND r.parent_id IS NULL AND r.updated_at < ?2
    AND (r.status IN ${TERMINAL} OR (?3 AND r.status NOT IN ${WORKING}))
  AND EXISTS (SELECT 1 FROM trees t WHERE t.root_id = ?1 AND t.removal IS NULL)
  AND NOT EXISTS (SELECT 1 FROM agents g WHERE g.root_id = ?1 AND (g.status IN ${WORKING} OR g.updated_at >= ?2
    OR g.worker IN (SELECT value FROM json_each(?4))
    OR (g.status NOT IN ${TERMINAL} AND EXISTS (SELECT 1 FROM mail m WHERE m.to_id = g.id AND m.consumed_seq IS NULL))
    OR (SELECT m.sent_at FROM mail m WHERE m.to_id = g.id ORDER BY m.number DESC LIMIT 1) >= ?2))
  AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.root_id = ?1 AND d.status = 'pending')
  AND NOT EXISTS (SELECT 1 FROM cron_jobs j WHERE j.root_id = ?1 AND j.enabled = 1)`;

interface Old {
  /** ?1 is the time before which it ended, ?2 how many, ?3 and ?4 the key behind which to look. */
  readonly select: string;
  readonly key: readonly string[];
  readonly entry: (row: Row) => ArchiveEntry;
  /** The parts of a key, then the time. */
  readonly remove: string;
}

const OLD: Readonly<Record<OldKind, Old>> = {
  delivery: {
    select: `SELECT * FROM deliveries WHERE status = 'delivered' AND ended_at < ?1 AND (ended_at, id) > (?3, ?4)
      ORDER BY ended_at, id LIMIT ?2`,
    key: ['ended_at', 'id'],
    entry: (row) => ({ type: 'delivery', delivery: deliveryOf(row) }),
    remove: `DELETE FROM deliveries WHERE ?1 IS NOT NULL AND id = ?2 AND status = 'delivered' AND ended_at < ?3`,
  },
  run: {
    select: `SELECT * FROM subagent_runs r WHERE r.finished_at < ?1 AND (r.created_at, r.id) > (?3, ?4)
      AND NOT EXISTS (SELECT 1 FROM agents g WHERE g.id = r.agent_id)
      AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.about = r.id AND d.status <> 'delivered')
      ORDER BY r.created_at, r.id LIMIT ?2`,
    key: ['created_at', 'id'],
    entry: (row) => ({ type: 'run', run: runOf(row) }),
    remove: 'DELETE FROM subagent_runs WHERE ?1 IS NOT NULL AND id = ?2 AND finished_at < ?3',
  },
  fire: {
    select: `SELECT * FROM cron_fires WHERE job_id = ?5 AND instant <= ?6 AND outcome <> 'queued' AND fired_at < ?1
      AND (instant, manual) > (?3, ?4) ORDER BY instant, manual LIMIT ?2`,
    key: ['job_id', 'instant', 'manual'],
    entry: (row) => ({ type: 'fire', fire: fireOf(row) }),
    remove: `DELETE FROM cron_fires WHERE job_id = ?1 AND instant = ?2 AND manual = ?3 AND outcome <> 'queued' AND fired_at < ?4`,
  },
};

type Key = readonly (string | number)[];

/** Letting go of what is old in the SQLite ledger. */
export class SqliteRetention extends SqliteOutbox implements RetentionLedger {
  async oldTrees(
    terms: RetentionTerms,
    from: string | null,
  ): Promise<{ trees: OldTree[]; next: string | null }> {
    const [created_at, id] = from === null ? [-1, ''] : (JSON.parse(from) as [number, string]);
    const sql = `SELECT id AS root_id, name, status, updated_at AS last_at, created_at FROM agents
      WHERE parent_id IS NULL AND created_at < ? AND (created_at, id) > (?, ?) ORDER BY created_at, id LIMIT ${ROOTS_AT_ONCE}`;
    return this.read(() => {
      const rows = this.rows(sql, terms.before, created_at, id);
      const last = rows.at(-1);
      const living = this.living();
      const trees = rows
        .filter(({ root_id }) => this.#mayGo(root_id as string, terms, living))
        .map(({ created_at: _, ...tree }) => tree as unknown as OldTree);
      const more = last !== undefined && rows.length === ROOTS_AT_ONCE;
      return { trees, next: more ? JSON.stringify([last.created_at, last.root_id]) : null };
    });
  }

  #mayGo(root_id: string, { before, idle }: RetentionTerms, living: readonly string[]): boolean {
    return this.rows(MAY_GO, root_id, before, idle ? 1 : 0, JSON.stringify(living)).length > 0;
  }

  async treeSize(root_id: string): Promise<TreeRows> {
    const of = (table: string, column: string) =>
      `(SELECT count(*) FROM agents g JOIN ${table} x ON x.${column} = g.id WHERE g.root_id = ?1)`;
    const sql = `SELECT (SELECT count(*) FROM agents WHERE root_id = ?1) AS agents, ${of('messages', 'agent_id')} AS messages,
      ${of('mail', 'to_id')} AS mail, ${of('requests', 'agent_id')} AS requests, (SELECT count(*) FROM asks WHERE root_id = ?1) AS asks,
      (SELECT count(*) FROM subagent_runs WHERE root_id = ?1) AS runs`;
    return { ...this.read(() => this.rows(sql, root_id))[0] } as unknown as TreeRows;
  }

  async closeTrees(root_ids: readonly string[], terms: RetentionTerms): Promise<string[]> {
    const close = `UPDATE trees SET removal = 'closed' WHERE root_id = ? AND removal IS NULL`;
    return this.transaction(() => {
      const living = this.living();
      return root_ids.filter(
        (root_id) => this.#mayGo(root_id, terms, living) && this.write(close, root_id) > 0,
      );
    });
  }

  async reopenTrees(root_ids: readonly string[]): Promise<void> {
    const sql = `UPDATE trees SET removal = NULL WHERE root_id = ? AND removal = 'closed'`;
    this.transaction(() => {
      for (const root_id of root_ids) this.write(sql, root_id);
    });
  }

  async closedTrees(limit: number): Promise<string[]> {
    const sql = 'SELECT root_id FROM trees WHERE removal IS NOT NULL ORDER BY root_id LIMIT ?';
    return this.read(() => this.rows(sql, limit)).map((row) => row.root_id as string);
  }

  treeEntries(root_id: string): AsyncIterable<ArchiveEntry> {
    return treeEntries(root_id, '?', async (sql, values) => this.read(() => this.rows(sql, ...values)));
  }

  async removePiece(
    root_id: string,
    most: number,
    runs: boolean,
  ): Promise<{ removed: TreeRows; done: boolean }> {
    return this.transaction(() => this.#removePiece(root_id, most, runs));
  }

  #removePiece(root_id: string, most: number, with_runs: boolean): { removed: TreeRows; done: boolean } {
    const removed = { agents: 0, messages: 0, mail: 0, requests: 0, asks: 0, runs: 0 };
    const begin = `UPDATE trees SET removal = 'begun' WHERE root_id = ? AND removal IS NOT NULL`;
    if (this.write(begin, root_id) === 0) return { removed, done: true };
    let room = most;
    const some = (table: string, by: string, of: string, key: string): number => {
      const which = `SELECT ${key} FROM ${table} WHERE ${by} = ?1 LIMIT ?2`;
      const n = this.write(`DELETE FROM ${table} WHERE ${by} = ?1 AND ${key} IN (${which})`, of, room);
      room -= n;
      return n;
    };
    const members = this.rows(
      'SELECT id FROM agents WHERE root_id = ? ORDER BY created_at LIMIT ?',
      root_id,
      most,
    );
    for (const { id } of members as { id: string }[]) {
      removed.messages += some('messages', 'agent_id', id, 'seq');
      if (room > 0) removed.mail += some('mail', 'to_id', id, 'number');
      if (room > 0) removed.requests += some('requests', 'agent_id', id, 'id');
      if (room <= 0) break;
      this.#removeAgent(id);
      removed.agents += 1;
      room -= 1;
    }
    if (room > 0) removed.asks = some('asks', 'root_id', root_id, 'id');
    if (room > 0) room -= this.#markCleaned(root_id, room);
    if (room > 0 && with_runs) {
      removed.runs = this.#removeRuns(root_id, room);
      room -= removed.runs;
    }
    if (room > 0) this.write('DELETE FROM trees WHERE root_id = ?', root_id);
    return { removed, done: room > 0 };
  }

  #removeAgent(id: string): void {
    this.write('DELETE FROM wait_edges WHERE waiter = ?', id);
    this.write('DELETE FROM wait_edges WHERE target = ?', id);
    this.write('DELETE FROM signals WHERE agent_id = ?', id);
    deleteConversation(this.sql, id);
  }

  #markCleaned(root_id: string, most: number): number {
    const sql = `UPDATE subagent_runs SET cleaned_at = ?1 WHERE id IN (
      SELECT id FROM subagent_runs WHERE root_id = ?2 AND cleaned_at IS NULL LIMIT ?3)`;
    return this.write(sql, this.clock(), root_id, most);
  }

  #removeRuns(root_id: string, most: number): number {
    const sql = `DELETE FROM subagent_runs WHERE id IN (SELECT r.id FROM subagent_runs r WHERE r.root_id = ?
      AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.about = r.id AND d.status <> 'delivered') LIMIT ?)`;
    return this.write(sql, root_id, most);
  }

  async oldEntries(kind: OldKind, before: number, from: string | null, limit: number): Promise<OldEntry[]> {
    const key = from === null ? null : (JSON.parse(from) as Key);
    const rows = this.read(() =>
      kind === 'fire'
        ? this.#oldFires(before, key, limit)
        : this.rows(OLD[kind].select, before, limit, ...(key ?? [-1, ''])),
    );
    const { key: columns, entry } = OLD[kind];
    return rows.map((row) => ({
      key: JSON.stringify(columns.map((column) => row[column])),
      entry: entry(row),
    }));
  }

  /** From job to job: those of one that is gone, and what lies behind the newest of one that is there. */
  #oldFires(before: number, from: Key | null, limit: number): Row[] {
    const found: Row[] = [];
    const next = (sql: string, job: string) => this.rows(sql, job)[0]?.job_id as string | undefined;
    let job = next(
      'SELECT min(job_id) AS job_id FROM cron_fires WHERE job_id >= ?',
      (from?.[0] as string) ?? '',
    );
    while (job != null && found.length < limit) {
      const behind = job === from?.[0] ? from.slice(1) : [-1, 0];
      const values = [before, limit - found.length, ...behind, job, this.#keptFrom(job)];
      found.push(...this.rows(OLD.fire.select, ...values));
      job = next('SELECT min(job_id) AS job_id FROM cron_fires WHERE job_id > ?', job);
    }
    return found;
  }

  /** The newest instant that need not be kept. */
  #keptFrom(job: string): number {
    if (this.rows('SELECT 1 FROM cron_jobs WHERE id = ?', job).length === 0) return Number.MAX_SAFE_INTEGER;
    const sql = `SELECT instant FROM cron_fires WHERE job_id = ? ORDER BY instant DESC LIMIT 1 OFFSET ${KEPT_FIRES}`;
    return (this.rows(sql, job)[0]?.instant as number | undefined) ?? -1;
  }

  async removeEntries(kind: OldKind, keys: readonly string[], before: number): Promise<number> {
    return this.transaction(() =>
      keys.reduce((sum, key) => sum + this.write(OLD[kind].remove, ...(JSON.parse(key) as Key), before), 0),
    );
  }
}
