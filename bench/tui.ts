import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { openCoppice } from '../src/coppice.ts';
import { openPty, type Pty } from '../test/tui/terminal/pty.ts';

/**
 * `npm run bench:tui [SECONDS]`: measures the terminal UI as a real program in a real pseudo-terminal. First 30 agents that each stream ten
 * pieces and make ten calls a second, with the main agent in view, then with one of the thirty, compared with the same tree in a process
 * without a UI. Then 200 agents at work, and how long a key takes to show on the screen. Needs /proc (Linux).
 */
const SIZE = { columns: 120, rows: 40 };
const BUSY = 30;
const MANY = 200;
const AIMS = { cpu: 15, bytes: 60, key_ms: 50 };
const WARM_UP_MS = 4_000;
/** Ticks of /proc/PID/stat in a second. */
const TICKS = 100;
/** Characters that the scripted model says at once. */
const PIECE = 24;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Rules of children that never end: in every step some pieces of text, then some calls side by side. */
function rules(count: number, pieces: number, chunk_ms: number, calls: number): object {
  const say = 'measuring what is here; '.padEnd(PIECE).repeat(pieces);
  return {
    rules: [
      {
        when: { root: true, step: 0 },
        calls: [{ name: 'fork', input: { name: 'worker-{{index}}', prompt: 'work' }, repeat: count }],
      },
      {
        when: { root: true },
        calls: [{ name: 'wait', input: { timeout: 3600, from_agents: '{{results.fork.*.agent_id}}' } }],
      },
      { say, chunk_ms, calls: [{ name: 'read', input: { path: 'notes.txt' }, repeat: calls }] },
    ],
  };
}

interface Place {
  readonly folder: string;
  readonly model: string;
  readonly database: string;
}

function place(contents: object): Place {
  const folder = mkdtempSync(join(tmpdir(), 'coppice-bench-'));
  writeFileSync(join(folder, 'notes.txt'), 'one\ntwo\nthree\n');
  writeFileSync(join(folder, 'rules.json'), JSON.stringify(contents));
  writeFileSync(join(folder, 'config.json'), '{}');
  return {
    folder,
    model: `scripted:${join(folder, 'rules.json')}`,
    database: `sqlite:${join(folder, 'ledger.db')}`,
  };
}

const LIMITS = { children: MANY, live: MANY + 1, total: MANY + 1, turns: 100_000 };

/** CPU seconds that a process has used. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

async function openUi({ folder, model, database }: Place, count: number): Promise<Pty> {
  const limits = Object.entries({ ...LIMITS, tokens: 'none', cost: 'none' });
  const flags = limits.flatMap(([name, value]) => ['--limit', `${name}=${value}`]);
  const main = join(import.meta.dirname, '..', 'src', 'cli', 'main.ts');
  // Node's own flags, such as --cpu-prof, are passed on.
  const args = [...process.execArgv, main, '--config', join(folder, 'config.json'), '--database', database];
  const pty = openPty(process.execPath, [...args, '--model', model, ...flags], {
    ...SIZE,
    cwd: folder,
    env: { HOME: folder },
  });
  await pty.until('/help');
  pty.send('begin\r');
  await pty.until(`wait ${count} agents`);
  return pty;
}

/** Quits with Ctrl-X q and kills all agents, as a person would. */
async function leave(pty: Pty): Promise<void> {
  pty.send('\x18q');
  await pty.until('[k]ill all');
  pty.send('k');
  await pty.ended;
  await pty.end();
}

interface Busy {
  readonly cpu: number;
  readonly bytes: number;
  readonly clears: number;
  readonly frames: number;
  readonly repaints: number;
}

async function withUi(seconds: number, in_view: number | null): Promise<Busy> {
  const here = place(rules(BUSY, 5, 100, 5));
  const pty = await openUi(here, BUSY);
  try {
    if (in_view !== null) pty.send(`\x18${in_view}`);
    await sleep(WARM_UP_MS);
    const [mark, before, began] = [pty.mark(), cpuSeconds(pty.pid), performance.now()];
    await sleep(seconds * 1000);
    const took = (performance.now() - began) / 1000;
    const cpu = ((cpuSeconds(pty.pid) - before) / took) * 100;
    const written = pty.written(mark);
    const count = (sequence: string) => written.split(sequence).length - 1;
    return {
      cpu,
      bytes: Buffer.byteLength(written) / took / 1000,
      clears: count('\x1b[3J') + count('\x1b[2J'),
      frames: count('\x1b[?2026h') / took,
      repaints: count('\x1b[J'),
    };
  } finally {
    await leave(pty);
    rmSync(here.folder, { recursive: true });
  }
}

/** The same tree in a process that draws nothing. */
async function headless(folder: string, model: string, database: string): Promise<never> {
  const coppice = await openCoppice({
    ...{ database, model, cwd: folder },
    limits: { ...LIMITS, tokens: null, cost_usd: null },
  });
  await coppice.start({ prompt: 'begin' });
  return new Promise<never>(() => undefined);
}

async function withoutUi(seconds: number): Promise<number> {
  const { folder, model, database } = place(rules(BUSY, 5, 100, 5));
  const args = [import.meta.filename, 'headless', folder, model, database];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = once(child, 'exit');
  const pid = child.pid as number;
  await sleep(WARM_UP_MS + 1_000);
  const [before, began] = [cpuSeconds(pid), performance.now()];
  await sleep(seconds * 1000);
  const cpu = ((cpuSeconds(pid) - before) / ((performance.now() - began) / 1000)) * 100;
  child.kill('SIGKILL');
  await ended;
  rmSync(folder, { recursive: true });
  return cpu;
}

interface Latencies {
  readonly what: string;
  readonly all_ms: readonly number[];
}

async function keys(): Promise<Latencies[]> {
  // Each of them takes a step every two seconds: 100 steps a second in all.
  const here = place(rules(MANY, 4, 500, 1));
  const pty = await openUi(here, MANY);
  const pressed = async (data: string, drawn: () => boolean, what: string): Promise<number> => {
    const began = performance.now();
    pty.send(data);
    await pty.until(drawn, what);
    const took = performance.now() - began;
    // People press keys at any moment of a frame.
    await sleep(60 + Math.random() * 100);
    return took;
  };
  const row = (sign: string) => pty.screen().find((line) => line.includes(sign)) ?? '';
  try {
    await sleep(WARM_UP_MS);
    const letters: number[] = [];
    for (let index = 1; index <= 20; index += 1)
      letters.push(await pressed('x', () => row('> x') === `> ${'x'.repeat(index)}`, `${index} letters`));
    pty.send('\x03');
    const arrows: number[] = [];
    pty.send('\x18a');
    await pty.until('Agents 201');
    for (let index = 0; index < 20; index += 1)
      arrows.push(await pressed('\x1b[B', () => row('▸').includes(`worker-${index} `), `worker-${index}`));
    pty.send('\x1b');
    await pty.until(() => !row('Agents 201'), 'closed');
    const visits: number[] = [];
    for (let index = 0; index < 10; index += 1) {
      const slot = (index % 9) + 1;
      const named = `[${slot} worker-${slot - 1}]`;
      visits.push(await pressed(`\x1b${slot}`, () => row(named) !== '', named));
    }
    return [
      { what: `${letters.length} letters into the input`, all_ms: letters },
      { what: `${arrows.length} arrows in the list`, all_ms: arrows },
      { what: `${visits.length} other agents`, all_ms: visits },
      { what: 'all', all_ms: [...letters, ...arrows, ...visits] },
    ];
  } finally {
    await leave(pty);
    rmSync(here.folder, { recursive: true });
  }
}

function percentile(all: readonly number[], share: number): number {
  const sorted = [...all].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

async function bench(seconds: number): Promise<void> {
  const aim = (reached: boolean) => (reached ? 'reached' : 'MISSED');
  console.log(
    `the terminal UI on ${SIZE.columns}×${SIZE.rows}; ${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}\n`,
  );
  console.log(`${BUSY} agents, each 10 pieces of text and 10 calls a second, ${seconds} s:`);
  const without = await withoutUi(seconds);
  console.log(`  without a UI:      ${without.toFixed(0).padStart(3)} % of a core`);
  for (const [what, in_view] of [
    ['main in view:', null],
    ['worker-0 in view:', 1],
  ] as const) {
    const { cpu, bytes, clears, frames, repaints } = await withUi(seconds, in_view);
    const share = cpu - without;
    console.log(
      `  ${what.padEnd(18)} ${cpu.toFixed(0).padStart(3)} % of a core, the UI's share ${share.toFixed(1)} % (aim ${AIMS.cpu} %: ${aim(share <= AIMS.cpu)}); ` +
        `${bytes.toFixed(1)} KB/s (aim ${AIMS.bytes}: ${aim(bytes <= AIMS.bytes)}); ${frames.toFixed(1)} frames/s; ` +
        `CSI 2J/3J: ${clears} (aim 0: ${aim(clears === 0)}); whole repaints: ${repaints}`,
    );
  }
  console.log(`\n${MANY} agents at work, from the key to the picture:`);
  for (const { what, all_ms } of await keys()) {
    const [p50, p95] = [percentile(all_ms, 0.5), percentile(all_ms, 0.95)];
    const judged = what === 'all' ? ` (aim ${AIMS.key_ms} ms: ${aim(p95 <= AIMS.key_ms)})` : '';
    console.log(
      `  ${what.padEnd(26)} p50 ${p50.toFixed(0).padStart(3)} ms, p95 ${p95.toFixed(0).padStart(3)} ms${judged}`,
    );
  }
}

const [first = '20', folder = '', model = '', database = ''] = process.argv.slice(2);
if (first === 'headless') await headless(folder, model, database);
else await bench(Number(first));
