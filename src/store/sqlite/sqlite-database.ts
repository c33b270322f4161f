import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { FactKeys, FactKind, FactKinds, Facts } from '../../kernel/ledger/facts.ts';
import type { Value } from '../../kernel/ledger/tables.ts';
import { UnitOfWork } from '../../kernel/ledger/unit-of-work.ts';
import { keptIn } from '../../records/kept-in.ts';
import type { Database, Dialect, JoinByKey, Query } from '../ledger/database.ts';
import { FACT_QUERIES, type FactQuery, factSql } from '../ledger/fact-queries.ts';
import type { Row } from '../ledger/rows.ts';
import type { OpenStoreOptions } from '../store.ts';
import type { LedgerFile } from './ledger-file.ts';
import { RowWriter } from './row-writer.ts';
import { sqliteStoreError } from './sqlite-error.ts';

/** How often writes of other processes are polled for, by one pragma. */
const POLL_MS = 10;
const POLL_WITHOUT_NOTIFICATIONS_MS = 1_000;
/** Maximum prepared statements that are cached. */
const MAX_PREPARED = 200;

const JOIN: JoinByKey = (table, name, on) => `CROSS JOIN ${table} ${name} ON ${on}`;

const DIALECT: Dialect = {
  row_number: 'rowid',
  bytewise: '',
  prefix_from: '>=',
  prefix_below: '<',
  cwd: "json_extract(config, '$.cwd')",
  is_workflow:
    "json_extract(config, '$.workflow.name') IS NOT NULL AND json_extract(config, '$.workflow.ask') IS NULL",
  profile: "json_extract(config, '$.profile')",
  model: "json_extract(config, '$.model')",
  skipLocked: () => '',
  isTrue: (column) => `${column} = 1`,
  join: JOIN,
  elements: (list) => `json_each(${list})`,
};

/** The ledger in one file. SQLite is synchronous; the promises belong to the contract. */
export class SqliteDatabase implements Database {
  readonly kind = 'sqlite';
  readonly location: string;
  readonly dialect = DIALECT;
  readonly acknowledgements_may_be_lost = false;
  readonly file: LedgerFile | undefined;
  readonly #database: DatabaseSync;
  readonly #clock: () => number;
  readonly #poll_ms: number;
  readonly #facts: FactStatements;
  readonly #writer: RowWriter;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #prepared = new Map<string, StatementSync>();

  constructor(location: string, database: DatabaseSync, options: OpenStoreOptions, file?: LedgerFile) {
    const { now, notifications } = options;
    this.location = location;
    this.file = file;
    this.#database = database;
    this.#clock = now ?? Date.now;
    this.#poll_ms = notifications === false ? POLL_WITHOUT_NOTIFICATIONS_MS : POLL_MS;
    this.#facts = new FactStatements(database);
    this.#writer = new RowWriter(database);
    this.#begin = database.prepare('BEGIN IMMEDIATE');
    this.#commit = database.prepare('COMMIT');
    database.function('coppice_now', () => this.#clock());
  }

  async read(sql: string, values: readonly Value[] = []): Promise<Row[]> {
    return this.#guarded(() => this.#all(sql, values));
  }

  async write(sql: string, values: readonly Value[] = []): Promise<Row[]> {
    return this.#transaction(() => this.#all(sql, values));
  }

  async transact<T>(
    _wanted: FactKeys,
    decide: (unit: UnitOfWork, found: readonly Row[]) => T,
    query?: Query,
  ): Promise<T> {
    return this.#transaction(() => {
      const unit = new UnitOfWork(new SqliteFacts(this.#facts, this.#clock()));
      const result = decide(unit, query === undefined ? [] : this.#all(query.sql, query.values));
      this.#writer.write(unit.changes());
      return result;
    });
  }

  /** Runs `work` in one transaction: all or nothing, durable when it returns. */
  #transaction<T>(work: () => T): T {
    return this.#guarded(() => {
      this.#begin.run();
      try {
        const result = work();
        this.#commit.run();
        this.file?.check();
        return result;
      } catch (error) {
        if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
        throw error;
      }
    });
  }

  #guarded<T>(work: () => T): T {
    this.file?.gone.throwIfAborted();
    try {
      return work();
    } catch (error) {
      this.file?.check();
      throw sqliteStoreError(error, this.location);
    }
  }

  #all(sql: string, values: readonly Value[]): Row[] {
    const statement = keptIn(this.#prepared, sql, () => {
      if (this.#prepared.size >= MAX_PREPARED) this.#prepared.clear();
      return this.#database.prepare(sql.replaceAll(/\$(\d+)/g, '?$1'));
    });
    return statement.all(
      ...values.map((value) => (typeof value === 'boolean' ? Number(value) : value)),
    ) as Row[];
  }

  async listen(_worker_id: string, wake: () => void): Promise<() => Promise<void>> {
    const statement = this.#database.prepare('PRAGMA data_version');
    const version = () => (statement.get() as Row).data_version;
    let seen = version();
    const timer = setInterval(() => {
      if (!this.#database.isOpen) return;
      const now = version();
      if (now === seen) return;
      seen = now;
      wake();
    }, this.#poll_ms);
    timer.unref();
    return async () => clearInterval(timer);
  }

  async now(): Promise<number> {
    this.file?.check();
    return this.#clock();
  }

  async close(): Promise<void> {
    await this.file?.close();
    if (this.#database.isOpen) this.#database.close();
    this.file?.gone.throwIfAborted();
  }
}

interface Prepared {
  readonly statement: StatementSync;
  /** Column names of a fact that is at most one row; otherwise empty. */
  readonly columns: readonly string[];
}

/** One prepared statement for each kind of fact, kept for all transactions. */
class FactStatements {
  readonly #database: DatabaseSync;
  readonly #prepared = new Map<FactKind, Prepared>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  read<Kind extends FactKind>(kind: Kind, key: string): FactKinds[Kind] {
    const query: FactQuery<Kind> = FACT_QUERIES[kind];
    const { statement, columns } = keptIn(this.#prepared, kind, () => this.#prepare(query));
    if (query.single !== true) return query.read(statement.all(key) as Row[]);
    const values = statement.get(key) as unknown as Row[string][] | undefined;
    return query.read(values === undefined ? [] : [rowOf(columns, values)]);
  }

  #prepare<Kind extends FactKind>(query: FactQuery<Kind>): Prepared {
    const statement = this.#database.prepare(factSql(query, JOIN).replaceAll('$1', '?1'));
    const single = query.single === true;
    if (single) statement.setReturnArrays(true);
    return { statement, columns: single ? statement.columns().map(({ name }) => name) : [] };
  }
}

/** Rows made by `node:sqlite` are slow dictionary objects, and every change of a fact copies its row. */
function rowOf(columns: readonly string[], values: readonly Row[string][]): Row {
  const row: Row = {};
  for (let at = 0; at < columns.length; at += 1) row[columns[at] as string] = values[at] as Row[string];
  return row;
}

/** Facts as of the beginning of a transaction: it writes nothing before its end, so each fact is read once. */
class SqliteFacts implements Facts {
  readonly now: number;
  readonly #statements: FactStatements;
  readonly #known = new Map<FactKind, Map<string, unknown>>();

  constructor(statements: FactStatements, now: number) {
    this.#statements = statements;
    this.now = now;
  }

  get<Kind extends FactKind>(kind: Kind, key: string): FactKinds[Kind] {
    // Each step asks for several facts: without a function for each that may have to be read.
    const known = this.#known.get(kind) ?? keptIn(this.#known, kind, () => new Map<string, unknown>());
    let fact = known.get(key);
    if (fact === undefined) {
      fact = this.#statements.read(kind, key);
      known.set(key, fact);
    }
    return fact as FactKinds[Kind];
  }

  /** Facts are read in this process: there is no round trip to save. */
  prefetch(): void {}
}
