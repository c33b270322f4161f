import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../test/postgres/start-postgres.ts';
import { diskUse } from './footprint/disk-use.ts';
import { memoryUse } from './footprint/memory-use.ts';
import { machineLine } from './machine-line.ts';
import { postgresVersion } from './postgres-version.ts';

/** `npm run bench:footprint`: measures bytes on disk of agents, messages and letters, and memory of a worker per agent that it leads. */
const TEXT = 1_000;

const server = await startPostgres();
const folder = mkdtempSync(join(tmpdir(), 'coppice-bench-'));
try {
  const database = await server.createDatabase();
  console.log(`${machineLine()}, ${await postgresVersion(database)}\n`);
  console.log(`bytes on disk, indexes included; messages and letters of ${TEXT} characters`);
  console.log('ledger          an agent    a message     a letter');
  for (const [title, url] of [
    ['SQLite', join(folder, 'disk.db')],
    ['PostgreSQL', database],
  ] as const) {
    const { agent, message, letter } = await diskUse(url, TEXT);
    const shown = [agent, message, letter].map((bytes) => bytes.toFixed(0).padStart(13));
    console.log(`${title.padEnd(11)}${shown.join('')}`);
  }
  console.log('\nmemory of a worker that leads agents in wait');
  const uses = [];
  for (const trees of [0, 10, 40]) {
    const use = await memoryUse(await server.createDatabase(), trees);
    console.log(
      `${String(use.agents).padStart(6)} agents ${(use.resident / 2 ** 20).toFixed(0).padStart(6)} MB`,
    );
    uses.push(use);
  }
  const [, few, many] = uses;
  if (few !== undefined && many !== undefined)
    console.log(
      `${((many.resident - few.resident) / (many.agents - few.agents) / 1_024).toFixed(1)} KB for each agent more`,
    );
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
