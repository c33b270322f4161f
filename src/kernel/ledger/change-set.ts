import { keptIn } from '../../records/kept-in.ts';
import { type Row, TABLES, type TableName, type Value } from './tables.ts';

/** A change of one row. `row`: all columns of a new row, otherwise the key and the columns that change. */
export type Change =
  | { readonly type: 'insert' | 'replace' | 'update'; readonly row: Row }
  /** Inserts the row unless one with the same key exists. */
  | { readonly type: 'offer'; readonly row: Row }
  | { readonly type: 'delete'; readonly row: Row };

/** The changes of a decision: at most one per row, by table, and groups of rows to delete. */
export interface Changes {
  readonly rows: ReadonlyMap<TableName, readonly Change[]>;
  /** Rows to delete by the value of a column, before anything else is written. */
  readonly wiped: readonly { readonly table: TableName; readonly column: string; readonly value: string }[];
  /** Notifications (`NOTIFY`), on databases that support them. */
  readonly notices: readonly { readonly channel: string; readonly text: string }[];
}

/** Collects the changes of a decision, merged into one change for each row. */
export class ChangeSet {
  readonly #rows = new Map<TableName, Map<string, Change>>();
  readonly #wiped: { table: TableName; column: string; value: string }[] = [];
  readonly #notices = new Map<string, { channel: string; text: string }>();
  #unnamed = 0;

  insert(table: TableName, row: Row): void {
    const [changes, key] = [this.#at(table), this.#keyOf(table, row)];
    changes.set(key, { type: changes.get(key)?.type === 'delete' ? 'replace' : 'insert', row });
  }

  replace(table: TableName, row: Row): void {
    const [changes, key] = [this.#at(table), this.#keyOf(table, row)];
    changes.set(key, { type: changes.get(key)?.type === 'insert' ? 'insert' : 'replace', row });
  }

  offer(table: TableName, row: Row): void {
    const [changes, key] = [this.#at(table), this.#keyOf(table, row)];
    if (!changes.has(key)) changes.set(key, { type: 'offer', row });
  }

  /** `row`: the key and the columns that change. */
  update(table: TableName, row: Row): void {
    const [changes, key] = [this.#at(table), this.#keyOf(table, row)];
    const before = changes.get(key);
    if (before === undefined || before.type === 'delete') changes.set(key, { type: 'update', row });
    else changes.set(key, { type: before.type, row: { ...before.row, ...row } });
  }

  /** `row`: the key. */
  delete(table: TableName, row: Row): void {
    const [changes, key] = [this.#at(table), this.#keyOf(table, row)];
    if (changes.get(key)?.type === 'insert') changes.delete(key);
    else changes.set(key, { type: 'delete', row });
  }

  wipe(table: TableName, column: string, value: string): void {
    this.#wiped.push({ table, column, value });
    for (const [key, { row }] of this.#at(table)) if (row[column] === value) this.#at(table).delete(key);
  }

  notify(channel: string, text: string): void {
    this.#notices.set(`${channel} ${text}`, { channel, text });
  }

  done(): Changes {
    const rows = [...this.#rows].map(([table, changes]) => [table, [...changes.values()]] as const);
    return {
      rows: new Map(rows.filter(([, changes]) => changes.length > 0)),
      wiped: this.#wiped,
      notices: [...this.#notices.values()],
    };
  }

  #at(table: TableName): Map<string, Change> {
    return keptIn(this.#rows, table, () => new Map());
  }

  #keyOf(table: TableName, row: Row): string {
    const { key } = TABLES[table];
    const [first] = key;
    if (first === undefined) {
      this.#unnamed += 1;
      return `${this.#unnamed}`;
    }
    if (key.length === 1) return String(row[first] as Value);
    return key.map((column) => String(row[column] as Value)).join('\n');
  }
}
