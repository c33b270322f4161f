// Proves with real server processes that every instant is fired once and none is lost: two servers on one SQLite file, four on PostgreSQL, some of them
// killed.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CronFire } from '../../src/records/run/cron-job.ts';
import { openStore } from '../../src/store/open-store.ts';
import { isProcessGone } from '../../src/store/process-gone.ts';
import type { Store } from '../../src/store/store.ts';
import { type Home, makeHome } from '../cli/run-cli.ts';
import { sharedPostgres } from '../postgres/shared-postgres.ts';
import { until } from '../until.ts';

const SERVE_MS = 9_000;

describe('several servers, one of them killed now and then', { timeout: 600_000 }, () => {
  it('two on one SQLite file', async (t) => {
    const home = makeHome();
    const seen = await serveTogether(home, home.database, 2);
    t.diagnostic(seen);
  });

  it('four on one PostgreSQL', async (t) => {
    const server = await sharedPostgres();
    const home = makeHome();
    const seen = await serveTogether(home, await server.createDatabase(), 4);
    t.diagnostic(seen);
    await server.stop();
  });
});

/** Servers fire two jobs each second; every two seconds one is killed with SIGKILL and another takes its place. */
async function serveTogether(home: Home, database: string, count: number): Promise<string> {
  writeFileSync(join(home.work, 'rules.json'), JSON.stringify({ rules: [{ when: {}, say: 'tick' }] }));
  const where = ['--database', database, '--model', 'scripted:rules.json'];
  for (const [name, when] of [
    ['by-cron', ['--cron', '* * * * * *']],
    ['by-interval', ['--every', '1s']],
  ] as const) {
    const added = await home.run(['cron', 'add', name, ...when, '--task', 'tick', ...where]);
    assert.equal(added.code, 0, added.stderr);
  }
  const start = () => home.start(['serve', '--log', 'json', ...where]);
  const servers = Array.from({ length: count }, start);
  const store = await openStore(database);
  const jobs = await store.jobs();
  await until(async () => (await store.runs({ source: 'cron', limit: 1 })).length > 0, 'they serve');
  let kills = 0;
  for (const end = Date.now() + SERVE_MS; Date.now() < end; await sleep(2_000)) {
    const at = kills % count;
    const killed = servers[at];
    killed?.child.kill('SIGKILL');
    await killed?.ended;
    servers[at] = start();
    kills += 1;
  }
  // A process that has only just started would die of the signal before its handler is installed.
  await until(async () => (await alive(store)) === count, 'all of them serve');
  for (const { child } of servers) child.kill('SIGTERM');
  for (const { ended } of servers) {
    const { code, stderr } = await ended;
    assert.equal(code, 0, stderr);
  }
  const counts: string[] = [];
  for (const job of jobs) {
    const fires = (await store.fires(job.id, 1_000)).toSorted((a, b) => a.instant - b.instant);
    assertWhole(fires);
    counts.push(
      `${job.name}: ${fires.length} fired, ${fires.reduce((sum, fire) => sum + fire.missed, 0)} made up for`,
    );
    const runs = await store.runs({ job_id: job.id });
    assert.deepEqual(
      runs.map((run) => run.id).toSorted(),
      fires.flatMap((fire) => fire.run_id ?? []).toSorted(),
      'each run belongs to one instant',
    );
  }
  await store.close();
  return `${count} servers, ${kills} kills; ${counts.join('; ')}`;
}

async function alive(store: Store): Promise<number> {
  const workers = await store.workers();
  return workers.filter((one) => one.role === 'serve' && !isProcessGone(one, hostname())).length;
}

/** Asserts that every second between the first and the last fire was either fired or counted as missed by the next fire, never both. */
function assertWhole(fires: readonly CronFire[]): void {
  assert.ok(fires.length > SERVE_MS / 2_000, `${fires.length} instants were fired`);
  for (const [at, fire] of fires.entries()) {
    const before = fires[at - 1];
    if (before === undefined) continue;
    assert.equal((fire.instant - before.instant) / 1000, fire.missed + 1, JSON.stringify([before, fire]));
  }
}
