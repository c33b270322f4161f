import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { defineTool, openCoppice } from '../src/coppice.ts';
import { bare, type Work } from './fanout/bare.ts';
import { machineLine } from './machine-line.ts';
import { percentile } from './percentile.ts';

/**
 * `npm run bench:fanout`: measures N children × 3 calls of a no-op in-process tool, streaming, through the public library with SQLite on disk. In the same
 * run, measures a bare loop of `fetch` that sends the same bytes and stores nothing, and the loops of two frameworks (not with `-- --alone`); with `-- --latency`
 * only how long trees take with a model that takes its time. `-- --sizes 1,10`: only these N. Each measurement is a process of its own: cold (forks; start-up
 * counts) or warm (fresh children; after ten trees). The loops alternate. CPU is user and system time of the process, the median and the least of five runs
 * (two for N = 1000): on a machine that others use, the least of each is what compares best.
 */
const SIZES = (option('--sizes') ?? '1,10,100,1000').split(',').map(Number);
/** Folder outside the repository into which the first run installs the frameworks (130 MB, MIT and Apache-2.0). */
const FRAMEWORKS = join(tmpdir(), 'coppice-bench-frameworks-2');

type Kind = 'FORK' | 'SPAWN';
type Loop = (count: number) => Promise<void>;

interface Measurement {
  readonly wall_ms: number;
  readonly cpu_ms: number;
  readonly peak_mb: number;
}

function option(name: string): string | undefined {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
}

/** Costs per tree, measured over as many trees as have about sixty children. */
async function measured(run: Loop, count: number, before: number): Promise<Measurement> {
  for (let tree = 0; tree < before; tree += 1) await run(Math.min(count, 100));
  const trees = before < 10 ? 1 : Math.ceil(60 / count);
  const cpu = process.cpuUsage();
  const started_at = performance.now();
  for (let tree = 0; tree < trees; tree += 1) await run(count);
  const used = process.cpuUsage(cpu);
  return {
    wall_ms: (performance.now() - started_at) / trees,
    cpu_ms: (used.user + used.system) / 1000 / trees,
    peak_mb: process.resourceUsage().maxRSS / 1024,
  };
}

/** Loop through Coppice. Opening is part of the first tree, as it is in a program. */
function coppice(url: string, kind: Kind): { run: Loop; close: () => Promise<void> } {
  const folder = mkdtempSync(join(tmpdir(), 'coppice-bench-'));
  const open = () =>
    openCoppice({
      database: `sqlite:${join(folder, 'ledger.db')}`,
      model: 'local/m',
      providers: { local: { type: 'openai-compatible', baseURL: url } },
      toolsets: [kind === 'FORK' ? 'process' : 'delegate'],
      tools: [
        defineTool({
          name: 'noop',
          description: 'Does nothing.',
          input: z.strictObject({ n: z.number() }),
          side_by_side: true,
          idempotent: true,
          run: async () => 'ok',
        }),
      ],
      builtInTools: [],
      limits: { children: 1000, live: 1001, total: 1001 },
    });
  let opened: ReturnType<typeof open> | null = null;
  return {
    async run(count) {
      opened ??= open();
      const agent = await (await opened).start({ prompt: `${kind} ${count}` });
      const { reply, agents } = await agent.result();
      const calls = agents.reduce((sum, one) => sum + one.calls, 0);
      const right = count * 4 + (kind === 'FORK' ? 1 : 0);
      if (reply !== 'all done' || calls !== right) throw new Error(`wrong: ${reply}, ${calls} calls`);
    },
    async close() {
      await (await opened)?.close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function loopOf(
  name: string,
  kind: Kind,
  url: string,
): Promise<{ run: Loop; close?: () => Promise<void> }> {
  if (name === 'coppice') return coppice(url, kind);
  const { root, child } = JSON.parse(process.env.BENCH_SEEN ?? '') as Record<'root' | 'child', string>;
  const work = (count: number): Work => ({ url, count, root: JSON.parse(root), child: JSON.parse(child) });
  if (name === 'bare') return { run: (count) => bare(work(count), kind) };
  const loops = (await import(join(FRAMEWORKS, 'loops.js'))) as Record<string, (work: Work) => Promise<void>>;
  return { run: (count) => (loops[name] as (work: Work) => Promise<void>)(work(count)) };
}

async function inProcess(args: readonly (string | number)[], seen: object): Promise<Measurement> {
  const child = spawn(process.execPath, [import.meta.filename, ...args.map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, BENCH_SEEN: JSON.stringify(seen) },
  });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  await once(child, 'close');
  return JSON.parse(out) as Measurement;
}

async function server(terms: readonly string[]): Promise<{ url: string; process: ChildProcess }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'fanout', 'server.ts'), ...terms], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [port] = (await once(child.stdout, 'data')) as [Buffer];
  child.unref();
  child.stdout.destroy();
  return { url: `http://127.0.0.1:${Number(port.toString())}`, process: child };
}

const pad = (texts: readonly (string | number)[], width: number) =>
  texts.map((text) => String(text).padStart(width)).join('');

/** Prints one row: all loops at one size. */
async function compare(
  names: readonly string[],
  kind: Kind,
  count: number,
  chunks: number,
  before: number,
  terms: readonly string[] = [],
): Promise<void> {
  const { url, process: serving } = await server(terms);
  // A failed measurement ends this process and must not leave the server running.
  const stop = () => serving.kill();
  process.once('exit', stop);
  const at = `${url}/${chunks}/v1`;
  const told = async () =>
    (await (await fetch(`${url}/seen`)).json()) as { bytes: number; root: string; child: string };
  await inProcess(['coppice', kind, at, 1, 0], {});
  const seen = await told();
  const runs = new Map(names.map((name) => [name, [] as Measurement[]]));
  const bytes = new Map<string, number>();
  for (let round = 0; round < (count < 1000 ? 5 : 2); round += 1) {
    for (const name of names) {
      runs.get(name)?.push(await inProcess([name, kind, at, count, before], seen));
      bytes.set(name, (await told()).bytes);
    }
  }
  stop();
  process.off('exit', stop);
  const least = (name: string) => Math.min(...(runs.get(name) ?? []).map((one) => one.cpu_ms));
  const median = (name: string, of: keyof Measurement) =>
    percentile(
      (runs.get(name) ?? []).map((one) => one[of]),
      0.5,
    );
  const base = median('bare', 'cpu_ms');
  const cells = names.map((name) => {
    const cpu = median(name, 'cpu_ms');
    return pad(
      [
        cpu < 100 ? cpu.toFixed(1) : cpu.toFixed(0),
        (cpu / base).toFixed(2),
        (least(name) / least('bare')).toFixed(2),
        median(name, 'wall_ms').toFixed(0),
        median(name, 'peak_mb').toFixed(0),
      ],
      7,
    );
  });
  const sent = names.map((name) => ((bytes.get(name) ?? 0) / (bytes.get('bare') ?? 1)).toFixed(2));
  console.log(`${pad([count, chunks], 6)}  ${cells.join('  |')}   ${sent.join(' ')}`);
}

function install(): void {
  cpSync(join(import.meta.dirname, 'fanout', 'frameworks'), FRAMEWORKS, { recursive: true });
  if (existsSync(join(FRAMEWORKS, 'node_modules'))) return;
  execFileSync('npm', ['install', '--no-fund', '--no-audit', '--prefix', FRAMEWORKS], { stdio: 'ignore' });
}

async function table(title: string, names: readonly string[], rows: () => Promise<void>): Promise<void> {
  console.log(`\n${title}`);
  console.log(
    `${pad(['N', 'chunks'], 7).slice(2)}  ${names.map((name) => name.padStart(35)).join('  |')}   bytes sent: bare = 1`,
  );
  console.log(
    `${''.padEnd(14)}${names.map(() => pad(['CPU ms', 'ratio', 'least', 'wall', 'MB'], 7)).join('  |')}`,
  );
  await rows();
}

/** Tool, calls, milliseconds to the first token, and between two of a text. */
const LATENCY = ['noop', '3', '300', '60'];
/** Pieces of each text of a child, of three tokens, and how long a tree then takes at least: the root's two answers, a child's four. */
const PIECES = 10;
const CRITICAL_MS = 2 * 300 + 4 * (300 + PIECES * 60);

const [name, kind, url, count, before] = process.argv.slice(2);
if (name !== undefined && url !== undefined && before !== undefined) {
  const loop = await loopOf(name, kind as Kind, url);
  const result = await measured(loop.run, Number(count), Number(before));
  await loop.close?.();
  console.log(JSON.stringify(result));
} else {
  console.log(
    `fan-out: N children × 3 no-op calls, streaming, local server, default settings; ${machineLine()}`,
  );
  console.log(
    'Coppice: library, SQLite on disk, durable. Bare: a fetch loop, nothing kept. Each row is one tree.',
  );
  const others = !process.argv.includes('--alone');
  if (others) install();
  const names = ['bare', 'coppice', ...(others ? ['ai', 'pi'] : [])];
  if (process.argv.includes('--latency')) {
    const title = `warm (after one tree), fresh children, 300 ms to the first token, 50 tokens a second: a tree takes at least ${CRITICAL_MS} ms`;
    await table(title, names, async () => {
      for (const size of SIZES) await compare(names, 'SPAWN', size, PIECES, 1, LATENCY);
    });
    process.exit();
  }
  await table('cold, forks', ['bare', 'coppice'], async () => {
    for (const size of SIZES) await compare(['bare', 'coppice'], 'FORK', size, 1, 0);
  });
  await table('warm, fresh children', names, async () => {
    for (const chunks of [1, 20]) for (const size of SIZES) await compare(names, 'SPAWN', size, chunks, 10);
  });
}
