import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Change, Changes } from '../../kernel/ledger/changes.ts';
import { TABLES, type Table, type TableName, type Value } from '../../kernel/ledger/tables.ts';

/** Writes the rows that a decision changed: each change is one statement, prepared once for its columns. */
export class RowWriter {
  readonly #database: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  write({ rows, wiped }: Changes): void {
    for (const { table, column, value } of wiped)
      this.#statement(`DELETE FROM ${table} WHERE ${column} = ?`).run(value);
    for (const [table, changes] of rows) for (const change of changes) this.#one(table, change);
  }

  #one(table: TableName, { type, row }: Change): void {
    const { key }: Table = TABLES[table];
    const values = (columns: readonly string[]) => columns.map((column) => sqliteValue(row[column] ?? null));
    const matching = (columns: readonly string[]) => columns.map((column) => `${column} = ?`).join(' AND ');
    if (type === 'delete') {
      this.#statement(`DELETE FROM ${table} WHERE ${matching(key)}`).run(...values(key));
      return;
    }
    const columns = Object.keys(row);
    if (type === 'update') {
      const changed = columns.filter((column) => !key.includes(column));
      const set = changed.map((column) => `${column} = ?`).join(', ');
      const sql = `UPDATE ${table} SET ${set} WHERE ${matching(key)}`;
      this.#statement(sql).run(...values(changed), ...values(key));
      return;
    }
    const how = { insert: 'INSERT', replace: 'INSERT OR REPLACE', offer: 'INSERT OR IGNORE' }[type];
    const marks = columns.map(() => '?').join(', ');
    this.#statement(`${how} INTO ${table} (${columns.join(', ')}) VALUES (${marks})`).run(...values(columns));
  }

  #statement(sql: string): StatementSync {
    let statement = this.#prepared.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#prepared.set(sql, statement);
    }
    return statement;
  }
}

function sqliteValue(value: Value): string | number | null {
  return typeof value === 'boolean' ? Number(value) : value;
}
