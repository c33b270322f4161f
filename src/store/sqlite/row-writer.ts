import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Change, Changes } from '../../kernel/ledger/change-set.ts';
import { type Row, TABLES, type Table, type TableName, type Value } from '../../kernel/ledger/tables.ts';
import { keptIn } from '../../records/kept-in.ts';

interface Write {
  readonly statement: StatementSync;
  /** The columns of its parameters, in order. */
  readonly columns: readonly string[];
}

interface Update extends Write {
  /** The columns of the change, in its order. */
  readonly named: readonly string[];
}

const HOW = { insert: 'INSERT', replace: 'INSERT OR REPLACE', offer: 'INSERT OR IGNORE' };

/** Writes the changes of a decision: one statement for each, prepared once for each set of columns. */
export class RowWriter {
  readonly #database: DatabaseSync;
  /** Prepared writes, by table and type of change. */
  readonly #prepared = new Map<string, Write>();
  readonly #updates = new Map<TableName, Update[]>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  write({ rows, wiped }: Changes): void {
    for (const { table, column, value } of wiped)
      this.#prepare(`${table} wipe ${column}`, () => [
        `DELETE FROM ${table} WHERE ${column} = ?`,
        [],
      ]).statement.run(value);
    for (const [table, changes] of rows)
      for (const change of changes) run(this.#writeFor(table, change), change.row);
  }

  #writeFor(table: TableName, { type, row }: Change): Write {
    if (type === 'update') return this.#updateFor(table, Object.keys(row));
    return this.#prepare(`${table} ${type}`, () => {
      const { key, columns }: Table = TABLES[table];
      if (type === 'delete') return [`DELETE FROM ${table} WHERE ${matching(key)}`, key];
      const all = Object.keys(columns);
      return [
        `${HOW[type]} INTO ${table} (${all.join(', ')}) VALUES (${all.map(() => '?').join(', ')})`,
        all,
      ];
    });
  }

  /** Few combinations of columns occur: comparing names is cheaper than building a key from them for each row. */
  #updateFor(table: TableName, named: readonly string[]): Update {
    const updates = keptIn(this.#updates, table, () => []);
    let update = updates.find((one) => isSame(one.named, named));
    if (update === undefined) {
      const { key }: Table = TABLES[table];
      const changed = named.filter((column) => !key.includes(column));
      const set = changed.map((column) => `${column} = ?`).join(', ');
      const statement = this.#database.prepare(`UPDATE ${table} SET ${set} WHERE ${matching(key)}`);
      update = { statement, columns: [...changed, ...key], named };
      updates.push(update);
    }
    return update;
  }

  #prepare(name: string, make: () => readonly [sql: string, columns: readonly string[]]): Write {
    return keptIn(this.#prepared, name, () => {
      const [sql, columns] = make();
      return { statement: this.#database.prepare(sql), columns };
    });
  }
}

function matching(key: readonly string[]): string {
  return key.map((column) => `${column} = ?`).join(' AND ');
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at += 1) if (a[at] !== b[at]) return false;
  return true;
}

function run({ statement, columns }: Write, row: Row): void {
  statement.run(...columns.map((column) => sqliteValue(row[column])));
}

function sqliteValue(value: Value | undefined): string | number | null {
  return typeof value === 'boolean' ? Number(value) : (value ?? null);
}
