import { setTimeout as sleep } from 'node:timers/promises';
import type { Changes } from '../../kernel/ledger/change-set.ts';
import type { FactKeys, FactKind, FactKinds, Facts } from '../../kernel/ledger/facts.ts';
import type { Value } from '../../kernel/ledger/tables.ts';
import { UnitOfWork } from '../../kernel/ledger/unit-of-work.ts';
import { backOff } from '../../processes/waiting.ts';
import { keptIn } from '../../records/kept-in.ts';
import { storable } from '../../records/text/text.ts';
import type { Database, Dialect, Query } from '../ledger/database.ts';
import { FACT_QUERIES } from '../ledger/fact-queries.ts';
import type { Row } from '../ledger/rows.ts';
import { StoreError } from '../store-error.ts';
import type { Connection, ConnectionPool } from './connection-pool.ts';
import { join } from './functions.ts';
import type { Listener } from './listener.ts';
import { postgresStoreError } from './postgres-error.ts';

/** Maximum tries of a transaction that the database rolls back because of a conflict with another one. */
const CONFLICT_TRIES = 20;
/** How long a read is retried: longer than a lease lasts. */
const READ_RETRY_MS = 15_000;
const READ_BACK_OFF = { base_ms: 50, max_ms: 1_000 };
/** Two transactions inserted a row with the same key: the retry finds it. */
const UNIQUE_VIOLATION = '23505';

const DIALECT: Dialect = {
  row_number: 'number',
  bytewise: 'COLLATE "C"',
  prefix_from: '~>=~',
  prefix_below: '~<~',
  cwd: "config::json->>'cwd'",
  is_workflow: "config::json->'workflow'->>'name' IS NOT NULL AND config::json->'workflow'->'ask' IS NULL",
  profile: "config::json->>'profile'",
  model: "config::json->>'model'",
  skipLocked: (rows) => `FOR UPDATE OF ${rows} SKIP LOCKED`,
  isTrue: (column) => column,
  join,
  elements: (list) => `(SELECT jsonb_array_elements_text(${list}::jsonb) AS value)`,
};

/** The ledger on a PostgreSQL server. A transaction takes two round trips: lock and read facts, then write rows and commit. */
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
   * Rejects with `E_DB_UNAVAILABLE` when the server cannot be reached or accepts no writes now; the statement may have taken effect, so every write is
   * idempotent.
   */
  write(sql: string, values: readonly Value[] = []): Promise<Row[]> {
    return this.#retryConflicts(() => this.#pool.query(sql, values));
  }

  /** Retries while the server is unavailable. */
  async read(sql: string, values: readonly Value[] = []): Promise<Row[]> {
    const retry_until = performance.now() + READ_RETRY_MS;
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.write(sql, values);
      } catch (error) {
        const pause_ms = backOff(tries, READ_BACK_OFF);
        const gone = error instanceof StoreError && error.code === 'E_DB_UNAVAILABLE';
        if (!gone || performance.now() + pause_ms > retry_until) throw error;
        await sleep(pause_ms);
      }
    }
  }

  transact<T>(
    keys: FactKeys,
    decide: (unit: UnitOfWork, found: readonly Row[]) => T,
    query?: Query,
  ): Promise<T> {
    return this.#retryConflicts(() =>
      this.#pool.transaction((connection, begun) => this.#decide(connection, begun, keys, decide, query)),
    );
  }

  /** If it rejects, the connection is closed, which rolls back the transaction. */
  async #decide<T>(
    connection: Connection,
    begun: Promise<void>,
    keys: FactKeys,
    decide: (unit: UnitOfWork, found: readonly Row[]) => T,
    query: Query | undefined,
  ): Promise<T> {
    const facts = new PostgresFacts();
    const [, , found = []] = await Promise.all([
      begun,
      this.#readFacts(connection, facts, facts.missing(keys)),
      query === undefined ? undefined : connection.query(query.sql, query.values),
    ]);
    for (;;) {
      const unit = new UnitOfWork(facts);
      const result = resultOrMissing(() => decide(unit, found));
      if (result instanceof MissingFacts) {
        await this.#readFacts(connection, facts, result.keys);
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

  async #readFacts(connection: Connection, facts: PostgresFacts, keys: object): Promise<void> {
    const sql = 'SELECT * FROM coppice_facts($1::jsonb)';
    facts.add(await connection.query(sql, [JSON.stringify(keys)]));
  }

  /** Retries what the database rolled back, since none of it took effect. */
  async #retryConflicts<T>(work: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await work();
      } catch (error) {
        const is_duplicate = (error as { readonly code?: string }).code === UNIQUE_VIOLATION;
        const wrapped = postgresStoreError(error, this.location, { was_writable: true });
        if (isStaleConnection(error)) this.#pool.reconnect();
        const is_conflict = is_duplicate || (wrapped instanceof StoreError && wrapped.code === 'E_DB_BUSY');
        if (!is_conflict || tries >= CONFLICT_TRIES) throw wrapped;
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

/** The result of the decision, or the facts that it lacked. */
function resultOrMissing<T>(decide: () => T): T | MissingFacts {
  try {
    return decide();
  } catch (error) {
    if (error instanceof MissingFacts) return error;
    throw error;
  }
}

/** Whether the connections lead to a server that has become read-only after a fail-over, or that does not answer. */
function isStaleConnection(error: unknown): boolean {
  const { code, message } = error as { readonly code?: string; readonly message?: string };
  return code === '25006' || message === 'Query read timeout';
}

/** Changes as `coppice_write` takes them, or null for none. JSON columns are encoded as texts, so that any character survives. */
function encodeChanges({ rows, wiped, notices }: Changes): string | null {
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

/** Keys by kind, as `coppice_facts` takes them. */
type Keys = { [Kind in FactKind]?: string[] };

/** Thrown when a decision needs facts that have not been read; it runs again once they are. Not an error: nothing failed. */
class MissingFacts {
  readonly keys: Keys;

  constructor(keys: Keys) {
    this.keys = keys;
  }
}

/** The facts read in one transaction. */
class PostgresFacts implements Facts {
  now = 0;
  readonly #known = new Map<FactKind, Map<string, unknown>>();

  get<Kind extends FactKind>(kind: Kind, key: string): FactKinds[Kind] {
    const fact = this.#known.get(kind)?.get(key);
    if (fact === undefined) throw new MissingFacts({ [kind]: [key] });
    return fact as FactKinds[Kind];
  }

  prefetch(keys: FactKeys): void {
    const missing = this.missing(keys);
    if (Object.keys(missing).length > 0) throw new MissingFacts(missing);
  }

  /** Returns those of the wanted keys whose facts have not been read. */
  missing(wanted: FactKeys): Keys {
    const missing: Keys = {};
    for (const [name, keys] of Object.entries(wanted)) {
      const kind = name as FactKind;
      const known = this.#known.get(kind);
      const unknown = [...new Set(keys)].filter((key) => known?.has(key) !== true);
      if (unknown.length > 0) missing[kind] = unknown;
    }
    return missing;
  }

  /** Adds the result of `coppice_facts`: for each kind the rows found for each key; for some kinds also for keys that were not asked for. */
  add(answers: readonly Row[]): void {
    for (const { kind, answer } of answers as unknown as { kind: FactKind | 'now'; answer: unknown }[]) {
      if (kind === 'now') this.now = answer as number;
      else
        for (const [key, rows] of Object.entries((answer ?? {}) as Record<string, Row[] | null>))
          keptIn(this.#known, kind, () => new Map()).set(key, FACT_QUERIES[kind].read(rows ?? []));
    }
  }
}
