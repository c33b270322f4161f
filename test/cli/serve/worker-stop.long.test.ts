// Proves that a process that is told to stop ends by itself whatever it is doing, and is ended if something was left open.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { openStore } from '../../../src/store/open-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { type Databases, sharedPostgres } from '../../postgres/shared-postgres.ts';
import { until } from '../../until.ts';
import { type Home, makeHome } from '../run-cli.ts';

/** A command that ignores SIGTERM and starts a process that leaves its process group. */
const STUBBORN = 'trap "" TERM; setsid sleep 600 & sleep 600';
const RULES = {
  rules: [
    {
      when: { user: '^fork', step: 0 },
      calls: [{ name: 'fork', input: { name: 'child', prompt: 'linger' } }],
    },
    { when: { user: '^call', step: 0 }, calls: [{ name: 'bash', input: { command: STUBBORN } }] },
    { when: {}, delay_ms: 600_000, say: 'at last' },
  ],
};
/** How a provider keeps an agent waiting, by model name. */
const PROVIDER = new Map<string, (answer: ServerResponse) => void>([
  ['silent', () => undefined],
  [
    'streaming',
    (answer) => {
      answer.writeHead(200, { 'content-type': 'text/event-stream' });
      answer.write('data: {"choices":[{"index":0,"delta":{"content":"well"}}]}\n\n');
    },
  ],
  ['limited', (answer) => answer.writeHead(429, { 'retry-after': '60' }).end('{}')],
  ['broken', (answer) => answer.destroy()],
]);
/** Advisory lock; transactions that create a child wait for its holder. */
const GATE = 1;
const GATED = `
  CREATE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN PERFORM pg_advisory_xact_lock(${GATE}); RETURN NEW; END $$;
  CREATE TRIGGER gate BEFORE INSERT ON agents FOR EACH ROW WHEN (NEW.parent_id IS NOT NULL) EXECUTE FUNCTION wait_at_gate()`;
/** A timer that is never cleared. */
const OVERLOOKED = { NODE_OPTIONS: '--import=data:text/javascript,setInterval(()=>{},1e6)' };

describe('a process that is told to stop', { timeout: 110_000 }, () => {
  const asked = new Set<string>();
  const provider = createServer((request, answer) => {
    let body = '';
    request.on('data', (text: Buffer) => {
      body += text;
    });
    request.on('end', () => {
      // The gate also asks such a server how many requests it takes at once.
      if (request.method !== 'POST') return void answer.writeHead(404).end();
      const { model } = JSON.parse(body) as { readonly model: string };
      asked.add(model);
      PROVIDER.get(model)?.(answer);
    });
  });
  const started: ReturnType<Home['start']>[] = [];
  let home: Home;
  let server: Databases;
  let database: string;
  let store: Store;

  before(async () => {
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
    const { port } = provider.address() as AddressInfo;
    home = makeHome();
    home.configure({
      providers: { local: { type: 'openai-compatible', baseURL: `http://127.0.0.1:${port}/v1` } },
    });
    writeFileSync(join(home.work, 'rules.json'), JSON.stringify(RULES));
    server = await sharedPostgres();
    database = await server.createDatabase();
    store = await openStore(database);
  });
  after(async () => {
    for (const { child, ended } of started) {
      child.kill('SIGKILL');
      await ended;
    }
    await store.close();
    await server.stop();
    provider.closeAllConnections();
    provider.close();
  });

  const start = (args: readonly string[], env = {}) => {
    const one = home.start([...args, '--database', database], { env });
    started.push(one);
    let log = '';
    one.child.stderr?.on('data', (text: string) => {
      log += text;
    });
    return { ...one, says: (text: string) => until(() => log.includes(text), `it says "${text}": ${log}`) };
  };
  const startWorker = (env = {}) => start(['worker', '--log', 'text', '--drain', '0'], env);
  const enter = async (prompt: string, model: string): Promise<string> => {
    const args = ['--detach', '--toolset', 'process', '--allow', 'bash', '--model', model];
    const { code, stdout, stderr } = await home.run(['run', prompt, ...args, '--database', database]);
    assert.equal(code, 0, stderr);
    return stdout.trim();
  };
  const isBusy = async (root_id: string, state: string) =>
    until(async () => (await store.agent(root_id))?.state.type === state, `${root_id} is ${state}`);

  it('leaves requests, pauses between them and calls to the next leader', async () => {
    for (const model of PROVIDER.keys()) await enter('wait', `local/${model}`);
    const calling = await enter('call', 'scripted:rules.json');
    const worker = startWorker();
    await until(() => asked.size === PROVIDER.size, `all models are asked: ${[...asked]}`);
    await isBusy(calling, 'executing');
    worker.child.kill('SIGTERM');
    const { code, stderr } = await worker.ended;
    assert.equal(code, 0, stderr);
    assert.match(stderr, /running turns stay in the ledger.*\n.*stopped; nothing is lost\n$/);
    await store.kill(calling, 'you', 0);
  });

  it('leaves an agent that its last transaction creates to the next leader', async () => {
    const client = new pg.Client({ connectionString: database });
    await client.connect();
    try {
      await client.query(GATED);
      await client.query('SELECT pg_advisory_lock($1)', [GATE]);
      const worker = startWorker();
      const root_id = await enter('fork', 'scripted:rules.json');
      const waits = `SELECT 1 FROM pg_locks JOIN pg_database ON pg_database.oid = database
        WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted`;
      await until(async () => (await client.query(waits)).rowCount === 1, 'the fork waits at the gate');
      worker.child.kill('SIGTERM');
      await worker.says('running turns stay in the ledger');
      await client.query('SELECT pg_advisory_unlock($1)', [GATE]);
      const { code, stderr } = await worker.ended;
      assert.equal(code, 0, stderr);
      assert.match(stderr, /stopped; nothing is lost\n$/);
      assert.equal((await store.agents({ root_id })).length, 2);
    } finally {
      await client.end();
    }
  });

  it('is ended when something keeps it alive that was overlooked, and says what', async () => {
    const worker = startWorker(OVERLOOKED);
    const run = start(['run', 'wait', '--model', 'scripted:rules.json'], OVERLOOKED);
    const timed = start(['run', 'wait', '--model', 'scripted:rules.json', '--timeout', '0.1'], OVERLOOKED);
    await worker.says('coppice works');
    await run.says('coppice run');
    worker.child.kill('SIGTERM');
    run.child.kill('SIGINT');
    const [of_worker, of_run, of_timed] = await Promise.all([worker.ended, run.ended, timed.ended]);
    assert.deepEqual([of_worker.code, of_run.code, of_timed.code], [0, 130, 124]);
    assert.match(of_worker.stderr, /stopped; nothing is lost\n.*warn +ended by force.* Timeout/);
    for (const { stderr } of [of_run, of_timed])
      assert.match(stderr, /nothing is lost, continue with.*\nended by force: .*Timeout\n$/);
  });
});
