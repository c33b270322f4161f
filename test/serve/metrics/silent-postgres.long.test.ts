// Proves that the health routes and /metrics report that the ledger is unreachable long before the ledger itself gives up.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { startPostgres } from '../../postgres/start-postgres.ts';
import { until } from '../../until.ts';
import { setWebStage } from '../http/web-stage.ts';

it('a PostgreSQL that is silent or gone: alive, not ready, told soon; ready again when it is back', async () => {
  const server = await startPostgres();
  const url = await server.createDatabase();
  const web = await setWebStage(() => 'done', { database: url });
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  const isAway = async (why: string) => {
    for (const path of ['/readyz', '/metrics']) {
      // The two seconds of a route against the fifteen after which a read gives up, on any machine.
      let has_given_up = false;
      const giveUp = () => {
        has_given_up = true;
      };
      web.stage.store.now().then(giveUp, giveUp);
      const answer = await web.ask(path);
      assert.equal(answer.status, 503, `${why}: ${path} ${answer.text}`);
      assert.ok(!has_given_up, `${why}: ${path} took long`);
    }
    assert.equal((await web.ask('/healthz')).text, 'ok\n');
  };
  assert.equal((await web.ask('/readyz')).text, 'ready\n');
  // The main process is stopped first, so that no backend is added. A backend that is just starting has no database yet, or is listed a moment later.
  process.kill(server.pid(), 'SIGSTOP');
  await setTimeout(100);
  const { rows } = await admin.query(
    "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'",
  );
  const pids = rows.map(({ pid }) => pid as number);
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  await isAway('silent');
  for (const pid of [...pids, server.pid()]) process.kill(pid, 'SIGCONT');
  await admin.end();
  await until(async () => (await web.ask('/readyz')).status === 200, 'it is ready again');
  await server.halt();
  await isAway('gone');
  await server.start();
  await until(async () => (await web.ask('/readyz')).status === 200, 'it is ready again');
  await web.close();
  await server.stop();
});
