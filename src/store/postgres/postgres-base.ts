import { setTimeout as sleep } from 'node:timers/promises';
import type { Row } from '../rows.ts';
import { StoreError } from '../store-error.ts';
import type { ConnectionPool } from './connection-pool.ts';
import { storeErrorOf } from './postgres-error.ts';

/** What was undone by the database is made again at once, so often. */
const UNDONE_TRIES = 20;
/** So long a read goes on trying: longer than a lease lives. */
const READ_PATIENCE_MS = 15_000;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

/** Statements by name on the pool: prepared once per connection. */
export class PostgresBase {
  readonly location: string;
  protected readonly pool: ConnectionPool;

  constructor(pool: ConnectionPool, location: string) {
    this.pool = pool;
    this.location = location;
  }

  /**
   * For writes. Rejects with `E_DB_UNAVAILABLE` when the server cannot be reached, or takes no writes for now; whether the statement took
   * effect is not known then, so every write is such that it may be made again.
   */
  protected async query(name: string, text: string, values: readonly unknown[]): Promise<Row[]> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.pool.query(name, text, values);
      } catch (error) {
        const wrapped = storeErrorOf(error, this.location, { was_writable: true });
        if (!(wrapped instanceof StoreError)) throw wrapped;
        if (isElsewhere(error)) this.pool.renew();
        // The database undid a transaction that met another one: nothing of it happened, so it may simply be made again.
        if (wrapped.code !== 'E_DB_BUSY' || tries >= UNDONE_TRIES) throw wrapped;
        await sleep(Math.random() * 10 * tries);
      }
    }
  }

  /** For statements that change nothing: a connection that breaks is no reason to fail. */
  protected async read(name: string, text: string, values: readonly unknown[]): Promise<Row[]> {
    const patience_until = performance.now() + READ_PATIENCE_MS;
    for (let pause_ms = FIRST_PAUSE_MS; ; pause_ms = Math.min(pause_ms * 2, LONGEST_PAUSE_MS)) {
      try {
        return await this.query(name, text, values);
      } catch (error) {
        const gone = error instanceof StoreError && error.code === 'E_DB_UNAVAILABLE';
        if (!gone || performance.now() + pause_ms > patience_until) throw error;
        await sleep(pause_ms);
      }
    }
  }
}

/** The connections lead where nothing can be done: to a server that another one has taken over from, or to none that answers. */
function isElsewhere(error: unknown): boolean {
  const { code, message } = error as { readonly code?: string; readonly message?: string };
  return code === '25006' || message === 'Query read timeout';
}
