// Proves that partial indexes hold the same rows on both databases: a wrong condition only costs time, so no other test detects it.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { it } from 'node:test';
import pg from 'pg';
import { openStore } from '../../src/store/open-store.ts';
import { sharedPostgres } from '../postgres/shared-postgres.ts';
import { temporaryFolder } from '../temporary-folder.ts';

interface Index {
  readonly name: string;
  readonly sql: string;
}

/** The conditions of partial indexes by name, normalised for both databases: without casts, brackets and `= 1`; JSON values as `column.key.key`. */
function conditions(indexes: readonly Index[]): Record<string, string> {
  const partial = indexes.flatMap(({ name, sql }) => {
    const [, condition] = / WHERE (.*)$/s.exec(sql) ?? [];
    if (condition === undefined) return [];
    const plain = condition
      .replaceAll(/json_extract\((\w+), '\$([.\w]+)'\)/g, '$1$2')
      .replaceAll(/::(?:text|json)|[()]| = 1\b/g, '')
      .replaceAll(/ ->>? '(\w+)'/g, '.$1');
    return [[name, plain]];
  });
  return Object.fromEntries(partial) as Record<string, string>;
}

it('partial indexes have the same conditions on both databases', async () => {
  const file = join(temporaryFolder(), 'ledger.db');
  await (await openStore(file)).close();
  const sqlite = new DatabaseSync(file);
  const here = sqlite.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL");
  const expected = conditions(here.all() as unknown as Index[]);
  sqlite.close();
  const server = await sharedPostgres();
  const url = await server.createDatabase();
  await (await openStore(url)).close();
  const client = new pg.Client(url);
  await client.connect();
  const there =
    'SELECT indexname AS name, indexdef AS sql FROM pg_indexes WHERE schemaname = current_schema()';
  const found = conditions((await client.query<Index>(there)).rows);
  await client.end();
  await server.stop();
  assert.ok(Object.keys(expected).length > 10);
  assert.deepEqual(found, expected);
});
