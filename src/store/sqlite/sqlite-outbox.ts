import type { Delivery } from '../../core/delivery.ts';
import type { DeliveryEnd, OutboxLedger } from '../outbox-ledger.ts';
import { deliveryOf, type Row } from '../rows.ts';
import { where } from '../where.ts';
import { deleteConversation } from './remove-agent.ts';
import { SqliteCron } from './sqlite-cron.ts';

const MAX_FOUND = 20;

/** The outbox of the SQLite ledger. */
export class SqliteOutbox extends SqliteCron implements OutboxLedger {
  async claimDeliveries(
    worker_id: string,
    at: number,
    limit: number,
    channels: readonly string[],
    held: readonly string[] = [],
  ): Promise<Delivery[]> {
    // A look is not a write: mostly nothing is due.
    const due = "SELECT 1 FROM deliveries WHERE status = 'pending' AND next_at <= ? LIMIT 1";
    if (this.read(() => this.rows(due, at)).length === 0) return [];
    return this.transaction(() => this.#claim(worker_id, at, limit, channels, held));
  }

  #claim(
    worker: string,
    at: number,
    limit: number,
    channels: readonly string[],
    held: readonly string[],
  ): Delivery[] {
    const due = this.rows(
      `SELECT id FROM deliveries WHERE status = 'pending' AND next_at <= ?1
        AND channel IN (SELECT value FROM json_each(?2))
        AND (worker IS NULL OR worker NOT IN (SELECT value FROM json_each(?3))
          OR (worker = ?5 AND id NOT IN (SELECT value FROM json_each(?6))))
      ORDER BY created_at, rowid LIMIT ?4`,
      at,
      JSON.stringify(channels),
      JSON.stringify(this.living()),
      limit,
      worker,
      JSON.stringify(held),
    );
    return due.map(({ id }) => {
      const sql = 'UPDATE deliveries SET worker = ?, attempts = attempts + 1 WHERE id = ? RETURNING *';
      return deliveryOf(this.rows(sql, worker, id as string)[0] as Row);
    });
  }

  async pendingChannels(): Promise<readonly string[]> {
    const sql = "SELECT DISTINCT channel FROM deliveries WHERE status = 'pending'";
    return this.read(() => this.rows(sql)).map((row) => row.channel as string);
  }

  async noteDelivery(id: string, worker_id: string, attempt: number, progress: string): Promise<boolean> {
    const sql = `UPDATE deliveries SET progress = ? WHERE id = ? AND worker = ? AND attempts = ? AND status = 'pending'`;
    return this.transaction(() => this.write(sql, progress, id, worker_id, attempt) > 0);
  }

  async endDelivery(id: string, worker_id: string, attempt: number, end: DeliveryEnd): Promise<boolean> {
    const [error, next_at, ended_at] =
      end.status === 'pending'
        ? [end.error, end.next_at, null]
        : [end.status === 'failed' ? end.error : null, null, end.at];
    const sql = `UPDATE deliveries SET status = ?, error = ?, next_at = coalesce(?, next_at), ended_at = ?, worker = NULL
      WHERE id = ? AND worker = ? AND attempts = ? AND status = 'pending'`;
    const values = [end.status, error, next_at, ended_at, id, worker_id, attempt];
    return this.transaction(() => this.write(sql, ...values) > 0);
  }

  async deliveries({ status, about, limit }: Parameters<OutboxLedger['deliveries']>[0]): Promise<Delivery[]> {
    const { sql, values, next } = where('?', { about }, [
      // Spelled out, so that the indexes of what is open and what failed can be used.
      status !== undefined && `status = '${status}'`,
    ]);
    const text = `SELECT * FROM deliveries ${sql} ORDER BY created_at DESC, rowid DESC LIMIT ${next}`;
    return this.read(() => this.rows(text, ...values, limit ?? -1)).map(deliveryOf);
  }

  async findDeliveries(text: string): Promise<Delivery[]> {
    const range = text.length >= 4 ? [text, `${text}\u{10ffff}`] : [text, text];
    const sql = `SELECT * FROM deliveries WHERE id = ?1 OR (id >= ?2 AND id < ?3) OR about = ?1
      ORDER BY created_at DESC, rowid DESC LIMIT ${MAX_FOUND}`;
    const found = this.read(() => this.rows(sql, text, ...(range as [string, string]))).map(deliveryOf);
    const exact = found.find((delivery) => delivery.id === text);
    return exact === undefined ? found : [exact];
  }

  /** One under way is left to its end. */
  async retryDeliveries(ids: readonly string[] | null, at: number): Promise<number> {
    const which =
      ids === null
        ? "status = 'failed'"
        : "status <> 'delivered' AND id IN (SELECT value FROM json_each(?2))";
    const sql = `UPDATE deliveries SET status = 'pending', next_at = ?1, ended_at = NULL WHERE ${which} AND worker IS NULL AND ?2 IS NOT NULL`;
    return this.transaction(() => this.write(sql, at, JSON.stringify(ids ?? [])));
  }

  async cleanRuns(at: number, limit: number): Promise<string[]> {
    return this.transaction(() => this.#clean(at, limit));
  }

  #clean(at: number, limit: number): string[] {
    const rows = this.rows(
      `SELECT r.agent_id, r.root_id, r.source FROM subagent_runs r
      WHERE r.cleanup = 'delete' AND r.finished_at IS NOT NULL AND r.cleaned_at IS NULL
        AND (r.source = 'cron' OR r.deliver <> '[]')
        AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.about = r.id AND d.status <> 'delivered')
        AND NOT EXISTS (SELECT 1 FROM mail m WHERE m.to_id = r.requester_id AND m.from_id = r.agent_id
          AND m.consumed_seq IS NULL)
      ORDER BY r.finished_at LIMIT ?`,
      limit,
    );
    for (const row of rows) {
      if (row.source === 'cron') this.#deleteTree(row.root_id as string);
      else if (this.#stands(row.agent_id as string)) deleteConversation(this.sql, row.agent_id as string);
      this.sql.cleaned.run(at, row.agent_id as string);
    }
    return rows.map((row) => row.agent_id as string);
  }

  /** Nothing builds on it. */
  #stands(agent_id: string): boolean {
    return this.rows('SELECT 1 FROM agents WHERE parent_id = ? LIMIT 1', agent_id).length === 0;
  }

  #deleteTree(root_id: string): void {
    for (const { id } of this.rows('SELECT id FROM agents WHERE root_id = ?', root_id)) {
      deleteConversation(this.sql, id as string);
      this.sql.deleteEdges.run(id as string);
    }
    this.write('DELETE FROM asks WHERE root_id = ?', root_id);
    this.write('DELETE FROM trees WHERE root_id = ?', root_id);
  }

  async takeSeat(channel: string, worker_id: string): Promise<boolean> {
    const sql = `INSERT INTO channel_seats (channel, worker) VALUES (?1, ?2) ON CONFLICT (channel) DO UPDATE SET worker = excluded.worker
      WHERE channel_seats.worker = ?2 OR channel_seats.worker NOT IN (SELECT value FROM json_each(?3))`;
    return this.transaction(() => this.write(sql, channel, worker_id, JSON.stringify(this.living())) > 0);
  }

  async leaveSeat(channel: string, worker_id: string): Promise<void> {
    const sql = 'DELETE FROM channel_seats WHERE channel = ? AND worker = ?';
    this.transaction(() => this.write(sql, channel, worker_id));
  }

  async recall(channel: string, key: string): Promise<string | null> {
    const sql = 'SELECT value FROM channel_notes WHERE channel = ? AND key = ?';
    const [row] = this.read(() => this.rows(sql, channel, key));
    return (row?.value as string | undefined) ?? null;
  }

  async remember(channel: string, key: string, value: string | null): Promise<void> {
    const forget = 'DELETE FROM channel_notes WHERE channel = ? AND key = ?';
    const keep = `INSERT INTO channel_notes (channel, key, value) VALUES (?, ?, ?)
      ON CONFLICT DO UPDATE SET value = excluded.value`;
    this.transaction(() =>
      value === null ? this.write(forget, channel, key) : this.write(keep, channel, key, value),
    );
  }
}
