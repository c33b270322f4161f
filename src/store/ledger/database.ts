import type { Wanted } from '../../kernel/ledger/facts.ts';
import type { Value } from '../../kernel/ledger/tables.ts';
import type { Unit } from '../../kernel/ledger/unit.ts';
import type { Row } from './rows.ts';

/**
 * A database that keeps the ledger. It decides nothing: it locks, reads the facts that a decision asks for, writes the rows that it is given, listens, and
 * tells the time. Every rule stands in `kernel/ledger/`, and every statement that looks through rows once, in the SQL that both databases speak
 * (`Dialect` for the rest). Values are `$1`, `$2`, …; `coppice_now()` is the clock in milliseconds since the epoch. Errors of the database itself reject with
 * a `StoreError`.
 */
export interface Database {
  readonly kind: 'sqlite' | 'postgres';
  /** For people and logs: without passwords. */
  readonly location: string;
  readonly dialect: Dialect;
  /** What was done may be told to nobody: the way to the database can break. */
  readonly loses_answers: boolean;
  /** Changes nothing. */
  read(sql: string, values?: readonly Value[]): Promise<Row[]>;
  /** One statement that is a transaction of its own; resolves to what it returns. Where it may be lost and made again, that must do no harm. */
  write(sql: string, values?: readonly Value[]): Promise<Row[]>;
  /**
   * One transaction: trees of which anything is asked for are locked, and the rows that `decide` changes are written. It may be called again from the
   * beginning, so it does nothing else. `wanted` is what it will ask for in any case. `look`: a look through rows, made when all that is locked for
   * `wanted` is locked; `decide` gets what it finds.
   */
  transact<T>(wanted: Wanted, decide: (unit: Unit, found: readonly Row[]) => T, look?: Look): Promise<T>;
  listen(worker_id: string, wake: () => void): Promise<() => Promise<void>>;
  now(): Promise<number>;
  close(): Promise<void>;
}

export interface Look {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** What the two databases say in different words. */
export interface Dialect {
  /** The column that counts rows in the order they came. */
  readonly row_number: string;
  /** Behind a column that is ordered or compared letter by letter. */
  readonly by_letter: string;
  /** Comparisons by which the index of ids finds a range of texts. */
  readonly from: string;
  readonly below: string;
  /** The folder in the configuration of an agent. */
  readonly cwd: string;
  /** Behind a look for rows to take: those that somebody else is taking are left to him. `rows`: the name of the table. */
  skipTaken(rows: string): string;
  isTrue(column: string): string;
  /** The elements of a JSON list of texts, as a table with the column `value`; it wants a name behind it. */
  elements(list: string): string;
}

/** More than any list has rows. */
export const ALL_ROWS = Number.MAX_SAFE_INTEGER;

/** Ids that begin with the text $1, if it has at least four characters. No character of it is a wildcard. */
export function hasPrefix({ from, below }: Dialect, column = 'id'): string {
  return `(length($1) >= 4 AND ${column} ${from} lower($1) AND ${column} ${below} (lower($1) || '~'))`;
}

/** An exact match alone, if there is one. */
export function exactFirst<T>(found: T[], isExact: (one: T) => boolean): T[] {
  const exact = found.find(isExact);
  return exact === undefined ? found : [exact];
}
