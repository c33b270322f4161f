import { parseArgs } from 'node:util';
import { startPostgres } from '../test/postgres/start-postgres.ts';
import { machineLine } from './machine-line.ts';
import { postgresVersion } from './postgres-version.ts';
import { timeWorkers } from './workers/time-workers.ts';

/**
 * `npm run bench:workers -- [--trees 128] [--concurrency 8]`: measures trees that wait for a slow model and slow tools, on one, two and four
 * real `coppice worker` processes and a real PostgreSQL. Exits with 1 if two do less than 1.7 times the work of one.
 */
const { values } = parseArgs({
  options: { trees: { type: 'string', default: '128' }, concurrency: { type: 'string', default: '8' } },
});
const [trees, concurrency] = [Number(values.trees), Number(values.concurrency)];
if (![trees, concurrency].every((value) => value > 0)) {
  console.error('usage: npm run bench:workers -- [--trees N] [--concurrency N]');
  process.exit(2);
}
const LOAD = { answer_ms: 200, calls: 4, call_seconds: 0.5 };
/** Minimum speed-up of two workers over one. */
const AIM = 1.7;
const one_tree_s = ((LOAD.calls + 1) * LOAD.answer_ms) / 1_000 + LOAD.calls * LOAD.call_seconds;

const server = await startPostgres({ durable: true });
try {
  console.log(
    `${trees} trees of ${LOAD.calls} calls of ${LOAD.call_seconds} s and ${LOAD.calls + 1} answers of ${LOAD.answer_ms} ms, ${concurrency} at once per worker; ${machineLine()}, ${await postgresVersion(await server.createDatabase())} with fsync\n`,
  );
  console.log('workers        time    as fast as one    if nothing but the waits took time');
  let alone = 0;
  for (const workers of [1, 2, 4]) {
    const took = await timeWorkers({
      ...LOAD,
      database: await server.createDatabase(),
      workers,
      trees,
      concurrency,
    });
    if (workers === 1) alone = took;
    const ratio = alone / took;
    const ideal = Math.ceil(trees / (workers * concurrency)) * one_tree_s;
    const aim = workers === 2 ? `   aim ≥ ${AIM}${ratio < AIM ? ' MISSED' : ''}` : '';
    console.log(
      `${String(workers).padStart(7)}${`${(took / 1_000).toFixed(1)} s`.padStart(12)}${`${ratio.toFixed(2)} ×`.padStart(18)}${`${ideal.toFixed(1)} s`.padStart(20)}${aim}`,
    );
    if (workers === 2 && ratio < AIM) process.exitCode = 1;
  }
} finally {
  await server.stop();
}
