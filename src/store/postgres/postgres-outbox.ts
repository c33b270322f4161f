import type { Delivery } from '../../core/delivery.ts';
import type { DeliveryEnd, OutboxLedger } from '../outbox-ledger.ts';
import { deliveryOf, type Row } from '../rows.ts';
import { where } from '../where.ts';
import { PostgresCron } from './postgres-cron.ts';

const MAX_FOUND = 20;
/** A worker that lives: its lease, and its process where that can be seen. `$1` are those that are seen to be gone. */
const IS_ALIVE = 'w.expires_at > coppice_now() AND NOT w.id = ANY ($1::text[])';

/** The outbox of the PostgreSQL ledger. */
export class PostgresOutbox extends PostgresCron implements OutboxLedger {
  async claimDeliveries(
    worker_id: string,
    at: number,
    limit: number,
    channels: readonly string[],
    held: readonly string[] = [],
  ): Promise<Delivery[]> {
    // As with agents, the look at the workers is made anew for a row that another claim has just changed.
    const sql = `UPDATE deliveries SET worker = $2, attempts = attempts + 1 WHERE id IN (
        SELECT d.id FROM deliveries d WHERE d.status = 'pending' AND d.next_at <= $3 AND d.channel = ANY ($5::text[])
          AND (d.worker IS NULL OR NOT EXISTS (SELECT 1 FROM workers w WHERE w.id = d.worker AND ${IS_ALIVE})
            OR (d.worker = $2 AND NOT d.id = ANY ($6::text[])))
        ORDER BY d.created_at, d.number LIMIT $4 FOR UPDATE OF d SKIP LOCKED
      ) RETURNING *`;
    const rows = await this.query('claim_deliveries', sql, [
      await this.gone(),
      worker_id,
      at,
      limit,
      channels,
      held,
    ]);
    const order = (a: Row, b: Row, column: string) => (a[column] as number) - (b[column] as number);
    rows.sort((a, b) => order(a, b, 'created_at') || order(a, b, 'number'));
    return rows.map(deliveryOf);
  }

  async pendingChannels(): Promise<readonly string[]> {
    const sql = "SELECT DISTINCT channel FROM deliveries WHERE status = 'pending'";
    return (await this.read('pending_channels', sql, [])).map((row) => row.channel as string);
  }

  async noteDelivery(id: string, worker_id: string, attempt: number, progress: string): Promise<boolean> {
    const sql = `UPDATE deliveries SET progress = $4 WHERE id = $1 AND worker = $2 AND attempts = $3 AND status = 'pending'
      RETURNING id`;
    return (await this.query('note_delivery', sql, [id, worker_id, attempt, progress])).length > 0;
  }

  async endDelivery(id: string, worker_id: string, attempt: number, end: DeliveryEnd): Promise<boolean> {
    const [error, next_at, ended_at] =
      end.status === 'pending'
        ? [end.error, end.next_at, null]
        : [end.status === 'failed' ? end.error : null, null, end.at];
    const sql = `UPDATE deliveries SET status = $4, error = $5, next_at = coalesce($6, next_at), ended_at = $7, worker = NULL
      WHERE id = $1 AND worker = $2 AND attempts = $3 AND status = 'pending' RETURNING id`;
    const values = [id, worker_id, attempt, end.status, error, next_at, ended_at];
    return (await this.query('end_delivery', sql, values)).length > 0;
  }

  async deliveries({ status, about, limit }: Parameters<OutboxLedger['deliveries']>[0]): Promise<Delivery[]> {
    const { sql, values, next } = where('$', { about }, [
      // Spelled out, so that the indexes of what is open and what failed can be used.
      status !== undefined && `status = '${status}'`,
    ]);
    const text = `SELECT * FROM deliveries ${sql} ORDER BY created_at DESC, number DESC LIMIT ${next}`;
    return (await this.read('deliveries', text, [...values, limit ?? null])).map(deliveryOf);
  }

  async findDeliveries(text: string): Promise<Delivery[]> {
    const sql = `SELECT * FROM deliveries WHERE id = $1 OR (length($1) >= 4 AND id ~>=~ $1 AND id ~<~ ($1 || '~')) OR about = $1
      ORDER BY created_at DESC, number DESC LIMIT ${MAX_FOUND}`;
    const found = (await this.read('find_deliveries', sql, [text])).map(deliveryOf);
    const exact = found.find((delivery) => delivery.id === text);
    return exact === undefined ? found : [exact];
  }

  async retryDeliveries(ids: readonly string[] | null, at: number): Promise<number> {
    const which = ids === null ? `status = 'failed'` : `status <> 'delivered' AND id = ANY ($2::text[])`;
    const sql = `UPDATE deliveries SET status = 'pending', next_at = $1, ended_at = NULL
      WHERE ${which} AND worker IS NULL AND $2::text[] IS NOT NULL RETURNING id`;
    return (await this.query(`retry_deliveries_${ids === null}`, sql, [at, ids ?? []])).length;
  }

  async cleanRuns(at: number, limit: number): Promise<string[]> {
    const rows = await this.query('clean_runs', 'SELECT coppice_clean_runs($1, $2) AS id', [at, limit]);
    return rows.map((row) => row.id as string);
  }

  async takeSeat(channel: string, worker_id: string): Promise<boolean> {
    const sql = `INSERT INTO channel_seats AS s (channel, worker) VALUES ($2, $3) ON CONFLICT (channel) DO UPDATE SET worker = excluded.worker
      WHERE s.worker = $3 OR NOT EXISTS (SELECT 1 FROM workers w WHERE w.id = s.worker AND ${IS_ALIVE}) RETURNING channel`;
    return (await this.query('take_seat', sql, [await this.gone(), channel, worker_id])).length > 0;
  }

  async leaveSeat(channel: string, worker_id: string): Promise<void> {
    const sql = 'DELETE FROM channel_seats WHERE channel = $1 AND worker = $2';
    await this.query('leave_seat', sql, [channel, worker_id]);
  }

  async recall(channel: string, key: string): Promise<string | null> {
    const sql = 'SELECT value FROM channel_notes WHERE channel = $1 AND key = $2';
    const [row] = await this.read('recall', sql, [channel, key]);
    return (row?.value as string | undefined) ?? null;
  }

  async remember(channel: string, key: string, value: string | null): Promise<void> {
    if (value === null)
      await this.query('forget', 'DELETE FROM channel_notes WHERE channel = $1 AND key = $2', [channel, key]);
    else
      await this.query(
        'remember',
        `INSERT INTO channel_notes (channel, key, value) VALUES ($1, $2, $3)
        ON CONFLICT (channel, key) DO UPDATE SET value = excluded.value`,
        [channel, key, value],
      );
  }
}
