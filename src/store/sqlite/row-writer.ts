import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Change, Changes } from '../../kernel/ledger/changes.ts';
import { type Row, TABLES, type Table, type TableName, type Value } from '../../kernel/ledger/tables.ts';

interface Write {
  readonly statement: StatementSync;
  /** Whose values it takes, in their order. */
  readonly columns: readonly string[];
}

const HOW = { insert: 'INSERT', replace: 'INSERT OR REPLACE', offer: 'INSERT OR IGNORE' };

/** Writes the rows that a decision changed: each change is one statement, prepared once for its columns. */
export class RowWriter {
  readonly #database: DatabaseSync;
  /** By table and kind of change; those of a change of some columns, also by these. */
  readonly #prepared = new Map<string, Write>();

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
    const named = type === 'update' ? Object.keys(row) : [];
    return this.#prepare(named.length === 0 ? `${table} ${type}` : `${table} ${named}`, () => {
      const { key, columns }: Table = TABLES[table];
      const matching = key.map((column) => `${column} = ?`).join(' AND ');
      if (type === 'delete') return [`DELETE FROM ${table} WHERE ${matching}`, key];
      if (type === 'update') {
        const changed = named.filter((column) => !key.includes(column));
        const set = changed.map((column) => `${column} = ?`).join(', ');
        return [`UPDATE ${table} SET ${set} WHERE ${matching}`, [...changed, ...key]];
      }
      const all = Object.keys(columns);
      return [
        `${HOW[type]} INTO ${table} (${all.join(', ')}) VALUES (${all.map(() => '?').join(', ')})`,
        all,
      ];
    });
  }

  #prepare(name: string, make: () => readonly [sql: string, columns: readonly string[]]): Write {
    let write = this.#prepared.get(name);
    if (write === undefined) {
      const [sql, columns] = make();
      write = { statement: this.#database.prepare(sql), columns };
      this.#prepared.set(name, write);
    }
    return write;
  }
}

function run({ statement, columns }: Write, row: Row): void {
  statement.run(...columns.map((column) => sqliteValue(row[column])));
}

function sqliteValue(value: Value | undefined): string | number | null {
  return typeof value === 'boolean' ? Number(value) : (value ?? null);
}
