import { setTimeout as sleep } from 'node:timers/promises';
import type { Changes } from '../../kernel/ledger/change-set.ts';
import type { FactKeys } from '../../kernel/ledger/facts.ts';
import type { Value } from '../../kernel/ledger/tables.ts';
import { UnitOfWork } from '../../kernel/ledger/unit-of-work.ts';
import { backOff } from '../../processes/waiting.ts';
import { storable } from '../../records/text/text.ts';
import type { Database, Dialect, Query } from '../ledger/database.ts';
import type { Row } from '../ledger/rows.ts';
import { StoreError } from '../store-error.ts';
import type { Connection, ConnectionPool } from './connection-pool.ts';
import type { Listener } from './listener.ts';
import { postgresStoreError } from './postgres-error.ts';
import { MissingFacts, PostgresFacts } from './postgres-facts.ts';

/** What was undone by the database is made again at once, so often. */
const UNDONE_TRIES = 20;
/** So long a read goes on trying: longer than a lease lives. */
const READ_PATIENCE_MS = 15_000;
const READ_BACK_OFF = { base_ms: 50, max_ms: 1_000 };
/** Two made the row of the same key at the same moment. */
const THERE_ALREADY = '23505';
/** A process that stops in the middle of a transaction keeps nobody from its trees for longer: well below the life of a lease. */
const BEGIN = 'BEGIN; SET LOCAL idle_in_transaction_session_timeout = 4000';

const DIALECT: Dialect = {
  row_number: 'number',
  bytewise: 'COLLATE "C"',
  prefix_from: '~>=~',
  prefix_below: '~<~',
  cwd: "config::json->>'cwd'",
  skipLocked: (rows) => `FOR UPDATE OF ${rows} SKIP LOCKED`,
  isTrue: (column) => column,
  elements: (list) => `(SELECT jsonb_array_elements_text(${list}::jsonb) AS value)`,
};

/** The ledger on a PostgreSQL server. A transaction is two round trips: locks and facts, then rows and the end. */
export class PostgresDatabase implements Database {
  readonly kind = 'postgres';
  readonly location: string;
  readonly dialect = DIALECT;
  readonly acknowledgements_may_be_lost = true;
  readonly #pool: ConnectionPool;
  readonly #listener: Listener;

  constructor(pool: ConnectionPool, location: string, listener: Listener) {
    this.#pool = pool;
    this.location = location;
    this.#listener = listener;
  }

  /**
   * Rejects with `E_DB_UNAVAILABLE` when the server cannot be reached, or takes no writes for now; whether the statement took effect is not known then, so
   * every write is such that it may be made again.
   */
  write(sql: string, values: readonly Value[] = []): Promise<Row[]> {
    return this.#undisturbed(() => this.#pool.query(sql, values));
  }

  /** A connection that breaks is no reason to fail. */
  async read(sql: string, values: readonly Value[] = []): Promise<Row[]> {
    const patience_until = performance.now() + READ_PATIENCE_MS;
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.write(sql, values);
      } catch (error) {
        const pause_ms = backOff(tries, READ_BACK_OFF);
        const gone = error instanceof StoreError && error.code === 'E_DB_UNAVAILABLE';
        if (!gone || performance.now() + pause_ms > patience_until) throw error;
        await sleep(pause_ms);
      }
    }
  }

  transact<T>(
    wanted: FactKeys,
    decide: (unit: UnitOfWork, found: readonly Row[]) => T,
    look?: Query,
  ): Promise<T> {
    return this.#undisturbed(() =>
      this.#pool.exclusive((connection) => this.#decide(connection, wanted, decide, look)),
    );
  }

  /** When it rejects, the connection goes, and with it what was begun. */
  async #decide<T>(
    connection: Connection,
    wanted: FactKeys,
    decide: (unit: UnitOfWork, found: readonly Row[]) => T,
    look: Query | undefined,
  ): Promise<T> {
    const begun = connection.plain(BEGIN);
    const facts = new PostgresFacts();
    const [, , found = []] = await Promise.all([
      begun,
      this.#learn(connection, facts, facts.missing(wanted)),
      look === undefined ? undefined : connection.query(look.sql, look.values),
    ]);
    for (;;) {
      const unit = new UnitOfWork(facts);
      const result = attempt(() => decide(unit, found));
      if (result instanceof MissingFacts) {
        await this.#learn(connection, facts, result.wanted);
        continue;
      }
      const changes = encodeChanges(unit.changes());
      await Promise.all([
        changes === null ? null : connection.query('SELECT coppice_write($1::jsonb)', [changes]),
        connection.plain('COMMIT'),
      ]);
      return result;
    }
  }

  async #learn(connection: Connection, facts: PostgresFacts, wanted: object): Promise<void> {
    const sql = 'SELECT * FROM coppice_facts($1::jsonb)';
    facts.learn(await connection.query(sql, [JSON.stringify(wanted)]));
  }

  /** The database undid a transaction that met another one: nothing of it happened, so it may simply be made again. */
  async #undisturbed<T>(work: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await work();
      } catch (error) {
        const is_there = (error as { readonly code?: string }).code === THERE_ALREADY;
        const wrapped = postgresStoreError(error, this.location, { was_writable: true });
        if (isStaleConnection(error)) this.#pool.renew();
        const is_undone = is_there || (wrapped instanceof StoreError && wrapped.code === 'E_DB_BUSY');
        if (!is_undone || tries >= UNDONE_TRIES) throw wrapped;
        await sleep(Math.random() * 10 * tries);
      }
    }
  }

  listen(worker_id: string, wake: () => void): Promise<() => Promise<void>> {
    return this.#listener.listen(`coppice_worker_${worker_id}`, wake);
  }

  async now(): Promise<number> {
    const [row] = await this.read('SELECT coppice_now() AS now');
    return row?.now as number;
  }

  async close(): Promise<void> {
    await this.#listener.close();
    await this.#pool.end();
  }
}

/** What it returns; what it asks for that is not known yet, it throws. */
function attempt<T>(decide: () => T): T | MissingFacts {
  try {
    return decide();
  } catch (error) {
    if (error instanceof MissingFacts) return error;
    throw error;
  }
}

/** The connections lead where nothing can be done: to a server that another one has taken over from, or to none that answers. */
function isStaleConnection(error: unknown): boolean {
  const { code, message } = error as { readonly code?: string; readonly message?: string };
  return code === '25006' || message === 'Query read timeout';
}

/** Changes as `coppice_write` reads them; null when there are none. Contents and states are texts in it, so that any character survives. */
export function encodeChanges({ rows, wiped, notices }: Changes): string | null {
  if (rows.size + wiped.length + notices.length === 0) return null;
  const encoded: Record<string, unknown> = {};
  for (const [table, changes] of rows) {
    const by_type: Record<string, unknown[]> = {};
    for (const { type, row } of changes) {
      by_type[type] ??= [];
      by_type[type].push(row);
    }
    encoded[table] = by_type;
  }
  const keep = (_: string, value: unknown) => (typeof value === 'string' ? storable(value) : value);
  return JSON.stringify({ ...encoded, wiped, notices }, keep);
}
