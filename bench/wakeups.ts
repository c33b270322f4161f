import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startPostgres } from '../test/postgres/start-postgres.ts';
import { machineLine } from './machine-line.ts';
import { percentile } from './percentile.ts';
import { postgresVersion } from './postgres-version.ts';
import { measureWakeups, type WakeupOptions } from './wakeups/measure-wakeups.ts';

/**
 * `npm run bench:wakeups -- [--samples 500]`: measures how long after writing to a waiting agent, led by a `coppice worker`, this process sees the commit that
 * ended the wait. On PostgreSQL with notifications, without any (`listen=off`), and on SQLite. Exits with 1 if an aim is missed.
 */
const { values } = parseArgs({ options: { samples: { type: 'string', default: '500' } } });
const samples = Number(values.samples);
if (!(samples >= 20)) {
  console.error('usage: npm run bench:wakeups -- [--samples N≥20]');
  process.exit(2);
}
interface Case extends Omit<WakeupOptions, 'samples'> {
  readonly title: string;
  readonly aims: { readonly p50?: number; readonly p95?: number; readonly max?: number };
}

const server = await startPostgres({ durable: true });
const folder = mkdtempSync(join(tmpdir(), 'coppice-bench-'));
let missed = false;
try {
  const database = await server.createDatabase();
  console.log(
    `wake-ups across processes, ${samples} letters each; ${machineLine()}, ${await postgresVersion(database)} with fsync\n`,
  );
  const silent = `${await server.createDatabase()}?listen=off`;
  const quick = { at_once: 1, look_ms: 1, pause_ms: 40 };
  const cases: Case[] = [
    { title: 'PostgreSQL, LISTEN', database, ...quick, aims: { p50: 15, p95: 50 } },
    {
      title: 'PostgreSQL, listen=off',
      database: silent,
      at_once: 20,
      look_ms: 10,
      pause_ms: 1_000,
      aims: { max: 1_200 },
    },
    { title: 'SQLite', database: join(folder, 'ledger.db'), ...quick, aims: { p50: 15, p95: 50 } },
  ];
  console.log(
    `${'ledger'.padEnd(24)}${['p50', 'p95', 'p99', 'max'].map((name) => name.padStart(12)).join('')}`,
  );
  for (const { title, aims, ...options } of cases) {
    const taken = await measureWakeups({ ...options, samples });
    const [p50, p95, p99, max] = [0.5, 0.95, 0.99, 1].map((share) => percentile(taken, share)) as [
      number,
      number,
      number,
      number,
    ];
    const shown = [p50, p95, p99, max].map((ms) => `${ms.toFixed(1)} ms`.padStart(12)).join('');
    const over = Object.entries(aims).filter(([name, aim]) => ({ p50, p95, max })[name as 'p50'] > aim);
    const aim = Object.entries(aims).map(([name, ms]) => `${name} ≤ ${ms} ms`);
    console.log(`${title.padEnd(24)}${shown}   aim ${aim.join(', ')}${over.length > 0 ? ' MISSED' : ''}`);
    missed ||= over.length > 0;
  }
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = missed ? 1 : 0;
