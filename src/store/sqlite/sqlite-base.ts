import { hostname } from 'node:os';
import type { DatabaseSync } from 'node:sqlite';
import { isProcessGone } from '../process-gone.ts';
import type { Row } from '../rows.ts';
import type { Worker } from '../store.ts';
import { Commit } from './commit.ts';
import { storeErrorOf } from './sqlite-error.ts';
import { prepareStatements, type Statements } from './statements.ts';

type Value = string | number | null;

/** Transactions and reads on one file. */
export class SqliteBase {
  readonly location: string;
  protected readonly database: DatabaseSync;
  protected readonly sql: Statements;
  /** Milliseconds since the epoch. */
  protected readonly clock: () => number;

  constructor(location: string, database: DatabaseSync, clock: () => number) {
    this.location = location;
    this.database = database;
    this.sql = prepareStatements(database);
    this.clock = clock;
  }

  /** Runs `work` in one transaction: all or nothing, durable when it returns. */
  protected transaction<T>(work: (commit: Commit) => T): T {
    try {
      this.database.exec('BEGIN IMMEDIATE');
      try {
        const commit = new Commit(this.sql);
        const result = work(commit);
        commit.finish();
        this.database.exec('COMMIT');
        return result;
      } catch (error) {
        if (this.database.isTransaction) this.database.exec('ROLLBACK');
        throw error;
      }
    } catch (error) {
      throw storeErrorOf(error, this.location);
    }
  }

  protected read<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw storeErrorOf(error, this.location);
    }
  }

  /** Ids of workers whose lease is alive and whose process, where it can be seen, too. */
  protected living(host = hostname()): string[] {
    const now = this.clock();
    const rows = this.sql.allWorkers.all() as unknown as (Worker & { expires_at: number })[];
    return rows.filter((one) => one.expires_at > now && !isProcessGone(one, host)).map((one) => one.id);
  }

  /** For statements that are not on the hot path. */
  protected rows(sql: string, ...values: Value[]): Row[] {
    return this.database.prepare(sql).all(...values) as Row[];
  }

  /** How many rows it changed. */
  protected write(sql: string, ...values: Value[]): number {
    return Number(this.database.prepare(sql).run(...values).changes);
  }
}
