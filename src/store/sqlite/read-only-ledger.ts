import type { DatabaseSync } from 'node:sqlite';
import type { Agent } from '../../records/agent/agent.ts';
import type { Ask } from '../../records/conversation/ask.ts';
import type { PlacedMessage } from '../../records/conversation/message.ts';
import type { CronJob } from '../../records/run/cron-job.ts';
import type { Delivery } from '../../records/run/delivery.ts';
import type { Run } from '../../records/run/run.ts';
import { agentOf, askOf, deliveryOf, jobOf, messageOf, type Row, runOf } from '../ledger/rows.ts';
import { LIVING } from '../ledger/sql-conditions.ts';
import { openReadOnly } from './open-database.ts';

/** Short: a reader gives up soon when a writer holds the file. */
const BUSY_TIMEOUT_MS = 200;
/** Only the newest rows are searched, so that a list takes as long in a large ledger as in a small one. */
const RECENT = 1_000;

export interface ListFilter {
  /** Prefix of the id, or of the name of an agent; empty for any. */
  readonly prefix: string;
  /** Only living agents, runs that have not ended, unanswered asks. */
  readonly open: boolean;
  readonly limit: number;
}

/** Short lists from a ledger file that it never changes, for completion. Every method throws when the file cannot be read. */
export class ReadOnlyLedger {
  readonly #database: DatabaseSync;

  constructor(path: string) {
    this.#database = openReadOnly(path, BUSY_TIMEOUT_MS);
  }

  /** Living ones first, then the newest. */
  agents({ prefix, open, limit }: ListFilter): Agent[] {
    const sql = `SELECT * FROM agents WHERE rowid IN (${recent('agents', ['id', 'name'], prefix)})
      ${open ? `AND ${LIVING}` : ''}
      ORDER BY NOT (${LIVING}), rowid DESC LIMIT ?3`;
    return this.#rows(sql, prefix, limit).map(agentOf);
  }

  newestRoot(folder: string): string | null {
    const sql = `SELECT id FROM (SELECT id, config FROM agents WHERE origin = 'root' ORDER BY created_at DESC LIMIT ${RECENT})
      WHERE json_extract(config, '$.cwd') = ? LIMIT 1`;
    const row = this.#database.prepare(sql).get(folder) as Row | undefined;
    return row === undefined ? null : (row.id as string);
  }

  first(root_id: string): PlacedMessage[] {
    const sql = 'SELECT * FROM messages WHERE agent_id = ? ORDER BY seq LIMIT 3';
    return (this.#database.prepare(sql).all(root_id) as Row[]).map(messageOf);
  }

  /** Newest first. */
  runs({ prefix, open, limit }: ListFilter): Run[] {
    const sql = `SELECT * FROM subagent_runs WHERE rowid IN (${recent('subagent_runs', ['id'], prefix)})
      ${open ? 'AND finished_at IS NULL' : ''} ORDER BY rowid DESC LIMIT ?3`;
    return this.#rows(sql, prefix, limit).map(runOf);
  }

  /** Oldest first: the longest wait is answered first. */
  asks({ prefix, open, limit }: ListFilter): Ask[] {
    const sql = `SELECT * FROM asks WHERE rowid IN (${recent('asks', ['id'], prefix)})
      ${open ? 'AND verdict IS NULL' : ''} ORDER BY rowid LIMIT ?3`;
    return this.#rows(sql, prefix, limit).map(askOf);
  }

  /** Sorted by name. */
  jobs({ prefix, limit }: Omit<ListFilter, 'open'>): CronJob[] {
    const sql = 'SELECT * FROM cron_jobs WHERE name >= ?1 AND name < ?2 ORDER BY name LIMIT ?3';
    return this.#rows(sql, prefix, limit).map(jobOf);
  }

  /** Undelivered ones, newest first. */
  deliveries({ prefix, limit }: Omit<ListFilter, 'open'>): Delivery[] {
    const sql = `SELECT * FROM deliveries WHERE rowid IN (${recent('deliveries', ['id'], prefix)})
      AND status <> 'delivered' ORDER BY rowid DESC LIMIT ?3`;
    return this.#rows(sql, prefix, limit).map(deliveryOf);
  }

  #rows(sql: string, prefix: string, limit: number): Row[] {
    return this.#database.prepare(sql).all(prefix, `${prefix}\u{10ffff}`, limit) as Row[];
  }

  close(): void {
    this.#database.close();
  }
}

/** Finds prefixes by a range: no character of the text is a wildcard. */
function recent(table: string, columns: readonly string[], prefix: string): string {
  // Without a prefix no index helps; the newest rows are found by scanning backwards.
  const ranges =
    prefix === '' ? ['?1 < ?2'] : columns.map((column) => `(${column} >= ?1 AND ${column} < ?2)`);
  const begins = ranges.join(' OR ');
  return `SELECT rowid FROM ${table} WHERE ${begins} ORDER BY rowid DESC LIMIT ${RECENT}`;
}
