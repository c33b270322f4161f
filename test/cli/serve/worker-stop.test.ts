// Proves that a worker which is told to stop ends by itself whatever is under way: no timer, request or connection keeps its process alive.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { openStore } from '../../../src/store/open-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { type PostgresServer, startPostgres } from '../../postgres/start-postgres.ts';
import { until } from '../../runtime/stage.ts';
import { type Home, makeHome } from '../run-cli.ts';

const LONG_MS = 600_000;
const RULES = {
  rules: [
    {
      when: { user: '^forks', step: 0 },
      calls: [{ name: 'fork', input: { name: 'child', prompt: 'linger' } }],
    },
    { when: {}, delay_ms: LONG_MS, say: 'at last' },
  ],
};
/** Transactions that create an agent wait for whoever holds this lock. */
const GATE = 1;
const GATED = `
  CREATE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN PERFORM pg_advisory_xact_lock(${GATE}); RETURN NEW; END $$;
  CREATE TRIGGER gate BEFORE INSERT ON agents FOR EACH ROW WHEN (NEW.parent_id IS NOT NULL) EXECUTE FUNCTION wait_at_gate()`;

describe('a worker that is told to stop', { timeout: 110_000 }, () => {
  let home: Home;
  let server: PostgresServer;
  let database: string;
  let store: Store;
  let client: pg.Client;
  const workers: ReturnType<Home['start']>[] = [];

  before(async () => {
    home = makeHome();
    writeFileSync(join(home.work, 'rules.json'), JSON.stringify(RULES));
    server = await startPostgres();
    database = await server.createDatabase();
    store = await openStore(database);
    client = new pg.Client({ connectionString: database });
    await client.connect();
  });
  after(async () => {
    for (const { child, ended } of workers) {
      child.kill('SIGKILL');
      await ended;
    }
    await client.end();
    await store.close();
    await server.stop();
    home.remove();
  });

  const start = () => {
    const worker = home.start(['worker', '--log', 'text', '--drain', '0', '--database', database]);
    workers.push(worker);
    let log = '';
    worker.child.stderr?.on('data', (text: string) => {
      log += text;
    });
    return {
      ...worker,
      says: (text: string) => until(() => log.includes(text), `the log says "${text}": ${log}`),
    };
  };
  const enter = async (prompt: string): Promise<string> => {
    const model = ['--model', 'scripted:rules.json', '--toolset', 'process'];
    const { code, stdout, stderr } = await home.run([
      'run',
      prompt,
      '--detach',
      ...model,
      '--database',
      database,
    ]);
    assert.equal(code, 0, stderr);
    return stdout.trim();
  };

  it('leaves an agent that its last transaction creates to the next leader', async () => {
    await client.query(GATED);
    await client.query('SELECT pg_advisory_lock($1)', [GATE]);
    const worker = start();
    const root_id = await enter('forks');
    const waits = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
    await until(async () => (await client.query(waits)).rowCount === 1, 'the fork waits at the gate');
    worker.child.kill('SIGTERM');
    await worker.says('turns under way are left in the ledger');
    await client.query('SELECT pg_advisory_unlock($1)', [GATE]);
    const { code, stderr } = await worker.ended;
    assert.equal(code, 0, stderr);
    assert.match(stderr, /stopped; nothing is lost\n$/);
    assert.equal((await store.agents({ root_id })).length, 2);
  });
});
