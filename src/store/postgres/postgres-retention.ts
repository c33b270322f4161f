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
import { PostgresOutbox } from './postgres-outbox.ts';

interface Old {
  /** $1 is the time before which it ended, $2 how many, $3 and more the key behind which to look. */
  readonly select: string;
  readonly key: readonly string[];
  /** Before all keys. */
  readonly first: readonly (string | number | boolean)[];
  readonly entry: (row: Row) => ArchiveEntry;
  /** $1 are keys as JSON. */
  readonly remove: string;
}

const KEYS = '(SELECT value AS k FROM jsonb_array_elements($1::jsonb)) AS key';

const OLD: Readonly<Record<OldKind, Old>> = {
  delivery: {
    select: `SELECT * FROM deliveries WHERE status = 'delivered' AND ended_at < $1 AND (ended_at, id) > ($3, $4)
      ORDER BY ended_at, id LIMIT $2`,
    key: ['ended_at', 'id'],
    first: [-1, ''],
    entry: (row) => ({ type: 'delivery', delivery: deliveryOf(row) }),
    remove: `DELETE FROM deliveries d USING ${KEYS} WHERE d.id = k->>1 AND d.status = 'delivered' AND d.ended_at < $2 RETURNING 1`,
  },
  run: {
    select: `SELECT * FROM subagent_runs r WHERE r.finished_at < $1 AND (r.created_at, r.id) > ($3, $4)
      AND NOT EXISTS (SELECT 1 FROM agents g WHERE g.id = r.agent_id)
      AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.about = r.id AND d.status <> 'delivered')
      ORDER BY r.created_at, r.id LIMIT $2`,
    key: ['created_at', 'id'],
    first: [-1, ''],
    entry: (row) => ({ type: 'run', run: runOf(row) }),
    remove: `DELETE FROM subagent_runs r USING ${KEYS} WHERE r.id = k->>1 AND r.finished_at < $2 RETURNING 1`,
  },
  fire: {
    select: `SELECT * FROM coppice_old_fires($1, $3, $4, $5, ${KEPT_FIRES}, $2)`,
    key: ['job_id', 'instant', 'manual'],
    first: ['', -1, false],
    entry: (row) => ({ type: 'fire', fire: fireOf(row) }),
    remove: `DELETE FROM cron_fires f USING ${KEYS} WHERE f.job_id = k->>0 AND f.instant = (k->>1)::bigint AND f.manual = (k->>2)::boolean
      AND f.outcome <> 'queued' AND f.fired_at < $2 RETURNING 1`,
  },
};

/** Letting go of what is old in the PostgreSQL ledger. */
export class PostgresRetention extends PostgresOutbox implements RetentionLedger {
  async oldTrees(
    { before, idle }: RetentionTerms,
    from: string | null,
  ): Promise<{ trees: OldTree[]; next: string | null }> {
    const [created_at, id] = from === null ? [0, ''] : (JSON.parse(from) as [number, string]);
    const sql = `SELECT r.id AS root_id, r.name, r.status, r.updated_at AS last_at, r.created_at, coppice_may_go(r.id, $1, $2, $3) AS may_go
      FROM (SELECT * FROM agents WHERE parent_id IS NULL AND created_at < $1 AND (created_at, id) > ($4, $5)
        ORDER BY created_at, id LIMIT ${ROOTS_AT_ONCE}) AS r`;
    const rows = await this.read('old_trees', sql, [before, idle, await this.gone(), created_at, id]);
    const last = rows.at(-1);
    return {
      trees: rows
        .filter(({ may_go }) => Boolean(may_go))
        .map(({ root_id, name, status, last_at }) => ({ root_id, name, status, last_at }) as OldTree),
      next:
        last === undefined || rows.length < ROOTS_AT_ONCE
          ? null
          : JSON.stringify([last.created_at, last.root_id]),
    };
  }

  async treeSize(root_id: string): Promise<TreeRows> {
    const of = (table: string, column: string) =>
      `(SELECT count(*) FROM agents g JOIN ${table} x ON x.${column} = g.id WHERE g.root_id = $1)`;
    const sql = `SELECT (SELECT count(*) FROM agents WHERE root_id = $1) AS agents, ${of('messages', 'agent_id')} AS messages,
      ${of('mail', 'to_id')} AS mail, ${of('requests', 'agent_id')} AS requests, (SELECT count(*) FROM asks WHERE root_id = $1) AS asks,
      (SELECT count(*) FROM subagent_runs WHERE root_id = $1) AS runs`;
    const [row] = await this.read('tree_size', sql, [root_id]);
    return row as unknown as TreeRows;
  }

  async closeTrees(root_ids: readonly string[], { before, idle }: RetentionTerms): Promise<string[]> {
    const sql = 'SELECT coppice_close_trees($1, $2, $3, $4) AS root_id';
    const rows = await this.query('close_trees', sql, [root_ids, before, idle, await this.gone()]);
    return rows.map((row) => row.root_id as string);
  }

  async reopenTrees(root_ids: readonly string[]): Promise<void> {
    const sql = `UPDATE trees SET removal = NULL WHERE root_id = ANY ($1::text[]) AND removal = 'closed'`;
    await this.query('reopen_trees', sql, [root_ids]);
  }

  async closedTrees(limit: number): Promise<string[]> {
    const sql = 'SELECT root_id FROM trees WHERE removal IS NOT NULL ORDER BY root_id LIMIT $1';
    return (await this.read('closed_trees', sql, [limit])).map((row) => row.root_id as string);
  }

  treeEntries(root_id: string): AsyncIterable<ArchiveEntry> {
    return treeEntries(root_id, '$', (sql, values) => this.read('tree_entries', sql, values));
  }

  async removePiece(
    root_id: string,
    most: number,
    runs: boolean,
  ): Promise<{ removed: TreeRows; done: boolean }> {
    const sql = 'SELECT coppice_remove_piece($1, $2, $3, coppice_now()) AS piece';
    const [row] = await this.query('remove_piece', sql, [root_id, most, runs]);
    return row?.piece as unknown as { removed: TreeRows; done: boolean };
  }

  async oldEntries(kind: OldKind, before: number, from: string | null, limit: number): Promise<OldEntry[]> {
    const { select, key, first, entry } = OLD[kind];
    const behind = from === null ? first : (JSON.parse(from) as typeof first);
    const rows = await this.read(`old_${kind}`, select, [before, limit, ...behind]);
    return rows.map((row) => ({
      key: JSON.stringify(key.map((column) => row[column])),
      entry: entry(row),
    }));
  }

  async removeEntries(kind: OldKind, keys: readonly string[], before: number): Promise<number> {
    const sql = `WITH gone AS (${OLD[kind].remove}) SELECT count(*) AS n FROM gone`;
    const [row] = await this.query(`remove_${kind}`, sql, [`[${keys.join(',')}]`, before]);
    return row?.n as number;
  }
}
