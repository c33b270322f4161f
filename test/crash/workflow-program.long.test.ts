/** Proves that workflows survive `kill -9` of the program whose functions they are, and of the server that runs them as jobs; what `notify` tells is entered once. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '../../src/store/open-store.ts';
import { sharedPostgres } from '../postgres/shared-postgres.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { turnsOf, workflowHome } from '../workflows/run-workflow.ts';

const PROGRAM = join(import.meta.dirname, 'workflow-program.ts');
const WANTED = [...'abcdefgh'].map((one) => `did ${one}${one}`).join(', ');

for (const kind of ['SQLite', 'PostgreSQL'] as const)
  it(`a program that is killed and started again, on ${kind}`, { timeout: 180_000 }, async (context) => {
    const server = kind === 'SQLite' ? null : await sharedPostgres();
    const folder = temporaryFolder();
    const database = (await server?.createDatabase()) ?? `sqlite:${join(folder, 'ledger.db')}`;
    const log = join(folder, 'log');
    const answers = () => (existsSync(log) ? readFileSync(log, 'utf8').split('\n').length : 0);
    let out = '';
    let kills = 0;
    for (let code: number | null = null; code === null && kills < 30; ) {
      const child = spawn(process.execPath, ['--conditions=coppice-source', PROGRAM, database, log], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      child.stdout.on('data', (data) => {
        out += data;
      });
      const ended = once(child, 'close');
      const before = answers();
      // Killed at a random moment after it has got on.
      while (child.exitCode === null && answers() < before + 2) await sleep(5);
      await sleep(Math.random() * 40);
      child.kill('SIGKILL');
      [code] = (await ended) as [number | null];
      if (code === null) kills += 1;
    }
    context.diagnostic(`${kills} kills`);
    // Killed after it has printed, it prints the same again.
    assert.deepEqual([...new Set(out.trimEnd().split('\n'))], [WANTED]);
    assert.ok(kills > 0, 'the faults must fire');
    const turns = await turnsOf(database);
    assert.deepEqual([...turns.values()], Array(16).fill(1), JSON.stringify([...turns]));
    await server?.stop();
  });

it('a server that is killed while a job runs a workflow', { timeout: 180_000 }, async (context) => {
  const home = workflowHome([{ when: { user: '^slow' }, delay_ms: 80, say: 'ok' }]);
  const log = join(home.folder, 'log.jsonl');
  home.configure({ model: 'scripted:rules.json', channels: { file: { log } } });
  mkdirSync(join(home.work, '.coppice', 'workflows'), { recursive: true });
  const body = `for (let n = 0; n < 12; n++) { await agent('slow ' + n); await notify('note ' + n); } return 'over';`;
  writeFileSync(
    join(home.work, '.coppice', 'workflows', 'noted.js'),
    `export const meta = { name: 'noted', description: 'Tells people.' };\n${body}`,
  );
  await home.run(['trust', '--yes']);
  const added = [
    'cron',
    'add',
    'job',
    '--at',
    '+1s',
    '--workflow',
    'noted',
    '--yes',
    '--deliver',
    'file:log',
  ];
  assert.equal((await home.run(added)).code, 0);
  const store = await openStore(home.database);
  const over = async () =>
    (await store.deliveries({})).some(({ kind, status }) => kind === 'run' && status === 'delivered');
  const notes = async () => (await store.deliveries({ limit: 100 })).length;
  let kills = 0;
  for (; kills < 25 && !(await over()); kills += 1) {
    const { child, ended } = home.start(['serve']);
    const before = await notes();
    while (!(await over()) && (await notes()) < before + 2) await sleep(10);
    await sleep(Math.random() * 100);
    child.kill('SIGKILL');
    await ended;
  }
  context.diagnostic(`${kills} kills`);
  const all = await store.deliveries({});
  const told = all.filter(({ kind }) => kind === 'notice').map(({ body: text }) => text);
  assert.deepEqual(
    told.toReversed(),
    Array.from({ length: 12 }, (_, n) => `[Workflow noted] note ${n}`),
  );
  assert.equal(all.filter(({ kind }) => kind === 'run').length, 1);
  await store.close();
  assert.ok(kills > 1, 'the faults must fire');
});
