import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { openScript } from '../src/models/workflow/script-run.ts';
import { openStore } from '../src/store/open-store.ts';
import { machineLine } from './machine-line.ts';

/**
 * `npm run bench:workflow [-- --agents 999]`: `agent()` calls in `parallel` and in a pipeline of three stages, against the server of `bench:fanout` with its latency
 * (docs/benchmarks.md), as a whole process with default settings. Then, in this process: the replay of as many finished calls, and what an interpreter costs.
 */
const MAIN = join(import.meta.dirname, '..', 'src', 'cli', 'main.ts');
const at_flag = process.argv.indexOf('--agents');
const AGENTS = at_flag < 0 ? 999 : Number(process.argv[at_flag + 1]);
const STAGES = 3;
/** Tool, calls, milliseconds to the first token, and between two of a text. */
const LATENCY = ['read', '3', '300', '60'];
const PIECES = 10;
/** An agent makes four requests, one after another. */
const AGENT_MS = 4 * (300 + PIECES * 60);

const folder = mkdtempSync(join(tmpdir(), 'coppice-bench-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const META = (name: string) => `export const meta = { name: '${name}', description: 'bench' };\n`;

async function server(): Promise<{ url: string; process: ChildProcess }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'fanout', 'server.ts'), ...LATENCY], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [port] = (await once(child.stdout, 'data')) as [Buffer];
  process.once('exit', () => child.kill());
  return { url: `http://127.0.0.1:${Number(port.toString())}/${PIECES}/v1`, process: child };
}

const { url, process: serving } = await server();

async function run(name: string, body: string, critical_ms: number, wanted: number): Promise<void> {
  const home = join(folder, name);
  mkdirSync(join(home, 'coppice'), { recursive: true });
  writeFileSync(
    join(home, 'coppice', 'config.json'),
    JSON.stringify({ model: 'local/m', providers: { local: { type: 'openai-compatible', baseURL: url } } }),
  );
  writeFileSync(join(home, 'notes.md'), 'a\nb\nc\nd\n');
  writeFileSync(join(home, 'script.js'), META(name) + body);
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    XDG_CONFIG_HOME: home,
    XDG_DATA_HOME: home,
    COPPICE_SANDBOX: 'off',
  };
  const child = spawn(process.execPath, [MAIN, 'workflow', 'run', './script.js', '--yes', '--json'], {
    cwd: home,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (text) => {
    out += text;
  });
  child.stderr.on('data', (text) => {
    err += text;
  });
  const [code] = await once(child, 'close');
  const store = await openStore(join(home, 'coppice', 'coppice.db'));
  const agents = await store.agents({});
  const root = agents.find(({ origin }) => origin === 'root');
  const calls = agents.reduce((sum, one) => sum + (one.origin === 'root' ? 0 : one.calls), 0);
  await store.close();
  const took = (root?.updated_at ?? 0) - (root?.created_at ?? 0);
  if (code !== 0 || JSON.parse(JSON.parse(out).reply) !== wanted || calls !== AGENTS * 3)
    throw new Error(err);
  const times = (took / critical_ms).toFixed(2);
  console.log(`${name}: ${took} ms, ${times} times the critical path of ${critical_ms} ms`);
}

/** Replay of finished calls, and what an interpreter costs, in this process. */
async function replay(): Promise<void> {
  const source = `${META('replay')}return (await parallel(Array.from({ length: ${AGENTS} }, (_, n) => () => agent('c' + n)))).length`;
  const setup = { source, seed: 'seed', started_at: 0 };
  const started = performance.now();
  const first = await openScript(setup);
  const first_ms = performance.now() - started;
  await first.dispose();
  // By then, the thread for the next script is there.
  await setTimeout(2_000);
  const before_mb = process.memoryUsage().rss / 1e6;
  const began = performance.now();
  const run = await openScript(setup);
  const opened = performance.now();
  const { events } = await run.feed([]);
  const calls = events.filter((event) => event.type === 'call');
  const entries = calls.map(
    ({ number }) =>
      ({
        call: number,
        type: 'value',
        value: 'x'.repeat(2_000),
        now: number,
        budget: { total: null, spent: 0 },
      }) as const,
  );
  await run.dispose();
  const again = await openScript(setup);
  const fed = performance.now();
  const { state } = await again.feed(entries, calls);
  const ended = performance.now();
  if (state.type !== 'done') throw new Error(JSON.stringify(state));
  const held_mb = process.memoryUsage().rss / 1e6 - before_mb;
  await again.dispose();
  console.log(
    `an interpreter opens in ${(opened - began).toFixed(0)} ms if a thread is ready, the first of a process in ${first_ms.toFixed(0)} ms (from the sources)`,
  );
  console.log(
    `a replay of ${AGENTS} finished calls of 2,000 characters takes ${(ended - fed).toFixed(0)} ms`,
  );
  console.log(`a run holds some ${held_mb.toFixed(0)} MB with its thread; a parked one none of it`);
}

console.log(machineLine());
await run(
  'parallel',
  `const got = await parallel(Array.from({ length: ${AGENTS} }, (_, n) => () => agent('You are now c' + n + ': count'))); return got.filter(Boolean).length`,
  AGENT_MS,
  AGENTS,
);
await run(
  'pipeline',
  `const got = await pipeline(Array.from({ length: ${AGENTS / STAGES} }, (_, n) => n), ${Array(STAGES).fill("(before, n) => agent('You are now c' + n + ': count ' + before)").join(', ')}); return got.filter(Boolean).length`,
  AGENT_MS * STAGES,
  AGENTS / STAGES,
);
serving.kill();
await replay();
process.exit();
