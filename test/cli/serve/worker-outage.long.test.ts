// Proves what a worker logs while the database is unreachable: once what is wrong, once that it cannot look for work, and when it is over.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { startPostgres } from '../../postgres/start-postgres.ts';
import { until } from '../../until.ts';
import { makeHome } from '../run-cli.ts';

/** The worker has something to write whenever the outage begins, on however busy a machine. */
const RULES = { rules: [{ delay_ms: 500, calls: [{ name: 'read', input: { path: 'rules.json' } }] }] };

it('an outage is logged once, and so is its end', { timeout: 110_000 }, async () => {
  const home = makeHome();
  const server = await startPostgres();
  const database = await server.createDatabase();
  writeFileSync(join(home.work, 'rules.json'), JSON.stringify(RULES));
  const worker = home.start(['worker', '--log', 'text', '--database', database]);
  let log = '';
  worker.child.stderr?.on('data', (text: string) => {
    log += text;
  });
  const says = (text: string) => until(() => log.includes(text), `the log says "${text}": ${log}`);
  try {
    await says('coppice works');
    const args = ['run', 'begin', '--detach', '--model', 'scripted:rules.json', '--database', database];
    assert.equal((await home.run(args)).code, 0);
    await says('leads a tree');
    await server.halt();
    await says('the search for unled trees failed');
    await server.start();
    await says('the ledger can be reached again');
    const told = log.split('\n').filter((line) => line.includes('cannot be reached'));
    const texts = told.map((line) => line.replace(/^\S+ +/, ''));
    assert.ok(
      texts.some((text) => text.startsWith('warn  database')),
      log,
    );
    assert.deepEqual(texts, [...new Set(texts)], 'nothing is said again and again');
    assert.ok(!log.includes('a tree or an agent of it could not be taken over'), log);
  } finally {
    worker.child.kill('SIGKILL');
    await worker.ended;
    await server.stop();
  }
});
