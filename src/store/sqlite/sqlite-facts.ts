import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { FactKind, FactKinds, Facts } from '../../kernel/ledger/facts.ts';
import { keptIn } from '../../records/kept-in.ts';
import type { JoinByKey } from '../ledger/database.ts';
import { FACT_QUERIES, type FactQuery, factSql } from '../ledger/fact-queries.ts';
import type { Row } from '../ledger/rows.ts';

export const JOIN: JoinByKey = (table, name, on) => `CROSS JOIN ${table} ${name} ON ${on}`;

interface Prepared {
  readonly statement: StatementSync;
  /** Column names of a fact that is at most one row; otherwise empty. */
  readonly columns: readonly string[];
}

/** One prepared statement for each kind of fact, kept for all transactions. */
export class FactStatements {
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
export class SqliteFacts implements Facts {
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
