// Proves that delegated tasks survive SIGKILL at random moments, on both databases: each parked call gets exactly one result, nothing is created twice, no
// call is silently repeated.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import { alwaysOnBothDatabases } from '../runtime/both-databases.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { WIDTH } from './delegate-worker.ts';

const MOST_KILLS = 4;
const ROUNDS = 1;

interface Ended {
  readonly killed: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the worker; if `kill_ms` is given, kills it that long after its first output. */
function runWorker(args: readonly string[], kill_ms: number | null): Promise<Ended> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'delegate-worker.ts'), ...args], {
    stdio: 'pipe',
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    // The delay starts with the first output.
    if (stdout === '' && kill_ms !== null) setTimeout(() => child.kill('SIGKILL'), kill_ms);
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve) =>
    child.on('close', (_code, signal) => resolve({ killed: signal === 'SIGKILL', stdout, stderr })),
  );
}

alwaysOnBothDatabases('killed while sub-agents work', (database) => {
  it('goes on to the right answer', async (context) => {
    let kills = 0;
    for (let round = 0; round < ROUNDS; round += 1) kills += await oneRun(await database());
    context.diagnostic(`${kills} kills`);
    assert.ok(kills >= ROUNDS, `the faults must fire: only ${kills} kills`);
  });
});

/** Executes one run; returns the number of kills. */
async function oneRun(url: string | undefined): Promise<number> {
  const folder = temporaryFolder();
  const database = url ?? `sqlite:${join(folder, 'ledger.db')}`;
  const effects = join(folder, 'effects.log');
  let [kills, root_id, reply]: [number, string | null, string | null] = [0, null, null];
  while (reply === null) {
    const args: string[] = [database, effects, ...(root_id === null ? [] : [root_id])];
    const ended = await runWorker(args, kills < MOST_KILLS ? Math.random() * 150 : null);
    root_id ??= /^root (\S+)$/m.exec(ended.stdout)?.[1] ?? null;
    reply = /^reply (.*)$/m.exec(ended.stdout)?.[1] ?? null;
    if (ended.killed) kills += 1;
    else assert.notEqual(reply, null, ended.stderr);
  }
  const names = Array.from({ length: WIDTH }, (_, index) => `s${index}`);
  assert.equal(reply, names.map((name) => `${name}>below-${name}`).join(' '));
  await check(database, root_id ?? '', effects, names);
  rmSync(folder, { recursive: true, force: true });
  return kills;
}

async function check(
  database: string,
  root_id: string,
  effects: string,
  names: readonly string[],
): Promise<void> {
  const store = await openStore(database);
  const agents = await store.agents({ root_id });
  const everybody = ['main', ...names, ...names.map((name) => `below-${name}`)];
  assert.deepEqual(agents.map((agent) => agent.name).sort(), everybody.sort(), 'everybody exists once');
  const runs = await store.runs({ root_id });
  assert.equal(runs.length, 2 * WIDTH);
  for (const run of runs) assert.deepEqual([run.source, run.status], ['delegate', 'completed']);
  const lines = existsSync(effects) ? readFileSync(effects, 'utf8').trim().split('\n') : [];
  for (const agent of agents) {
    const history = await store.history(agent.id);
    const results = history.flatMap((message) => (message.kind === 'result' ? [message.content] : []));
    const calls = history.flatMap((message) =>
      message.kind === 'assistant' ? message.content.parts.filter((part) => part.type === 'call') : [],
    );
    assert.deepEqual(results.map((one) => one.call_id).sort(), calls.map((one) => one.id).sort(), agent.name);
    assert.deepEqual(
      history.map((message) => message.seq),
      history.map((_, index) => index + 1),
    );
    const noted = lines.filter((line) => line === agent.name).length;
    const interrupted = results.filter((one) => one.name === 'note' && one.status === 'interrupted').length;
    if (agent.name === 'main') continue;
    assert.ok(noted <= 1, `${agent.name} noted ${noted} times`);
    assert.ok(
      noted === 1 || interrupted === 1,
      `${agent.name}: its note is neither there nor reported as unknown`,
    );
  }
  await store.close();
}
