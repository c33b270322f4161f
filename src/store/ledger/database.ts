import type { FactKeys } from '../../kernel/ledger/facts.ts';
import type { Value } from '../../kernel/ledger/tables.ts';
import type { UnitOfWork } from '../../kernel/ledger/unit-of-work.ts';
import type { Store } from '../store.ts';
import type { Row } from './rows.ts';

/**
 * A database that holds the ledger. It decides nothing: it locks, reads the facts that a decision needs, writes the rows that the decision changes, listens,
 * and tells the time. Every rule stands in `kernel/ledger/`, and every query once, in SQL that both databases speak (`Dialect` covers the differences).
 * Values are `$1`, `$2`, …; `coppice_now()` is the database's clock in milliseconds since the epoch. Errors of the database itself reject with a
 * `StoreError`.
 */
export interface Database extends Pick<Store, 'kind' | 'location' | 'listen' | 'now' | 'close'> {
  readonly dialect: Dialect;
  /** Watches the file, if it is one. `check` throws a `StoreError` if it is gone. */
  readonly file?: { readonly gone: AbortSignal; check(): void } | undefined;
  /** Whether the connection can break after a commit and before its acknowledgement arrives. */
  readonly acknowledgements_may_be_lost: boolean;
  /** Runs a query that changes nothing. */
  read(sql: string, values?: readonly Value[]): Promise<Row[]>;
  /** One statement as a transaction of its own; resolves to the rows it returns. Must be idempotent where acknowledgements may be lost. */
  write(sql: string, values?: readonly Value[]): Promise<Row[]>;
  /**
   * One transaction: locks the trees that any key concerns, and writes the rows that `decide` changes. `decide` may run again from the beginning, so it must
   * have no side effects. `keys`: facts to read ahead. `query`: runs once everything that `keys` concerns is locked; `decide` gets its rows.
   */
  transact<T>(
    keys: FactKeys,
    decide: (unit: UnitOfWork, found: readonly Row[]) => T,
    query?: Query,
  ): Promise<T>;
}

/** A join whose rows are looked up by key for each row before it, whatever the planner estimates of their number. */
export type JoinByKey = (table: string, name: string, on: string) => string;

export interface Query {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** SQL in which the two databases differ. */
export interface Dialect {
  /** The column that numbers rows in order of insertion. */
  readonly row_number: string;
  /** Follows a text column that is ordered or compared byte by byte. */
  readonly bytewise: string;
  /** Comparison operators by which the index of ids finds a range of texts. */
  readonly prefix_from: string;
  readonly prefix_below: string;
  /** Expression for the folder in the configuration of an agent. */
  readonly cwd: string;
  /** The agent is a workflow run; as in the index `agents_workflows`. */
  readonly is_workflow: string;
  /** Expressions for the profile and the model in the configuration of an agent. */
  readonly profile: string;
  readonly model: string;
  /** Ends a query for rows to update: skips rows that another transaction is updating. `rows`: the name of the table in the statement. */
  skipLocked(rows: string): string;
  isTrue(column: string): string;
  readonly join: JoinByKey;
  /** The elements of a JSON list of texts, as a table with the column `value`; needs an alias. */
  elements(list: string): string;
}

/** As a limit on rows: no limit. */
export const NO_LIMIT = Number.MAX_SAFE_INTEGER;
