import type pg from 'pg';
import type { Row } from '../rows.ts';
import { StoreError } from '../store-error.ts';
import { storeErrorOf } from './postgres-error.ts';

/** Statements by name on the pool: prepared once per connection. */
export class PostgresBase {
  readonly location: string;
  protected readonly pool: pg.Pool;

  constructor(pool: pg.Pool, location: string) {
    this.pool = pool;
    this.location = location;
  }

  protected async query(name: string, text: string, values: readonly unknown[]): Promise<Row[]> {
    for (let tries = 1; ; tries += 1) {
      try {
        return (await this.pool.query({ name, text, values: [...values] })).rows as Row[];
      } catch (error) {
        const wrapped = storeErrorOf(error, this.location);
        // The database undid a transaction that met another one: nothing of it happened, so it may simply be made again.
        const undone = wrapped instanceof StoreError && wrapped.code === 'E_DB_BUSY' && tries < 20;
        if (!undone) throw wrapped;
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 10 * tries));
      }
    }
  }
}
