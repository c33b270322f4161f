import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createScriptedModel } from '../src/models/scripted/scripted-model.ts';
import { DEFAULT_LIMITS } from '../src/records/agent/limits.ts';
import { openRuntime } from '../src/runtime/open-runtime.ts';
import { openStore } from '../src/store/open-store.ts';
import { createBuiltInTools } from '../src/tools/tool-registry.ts';
import { machineLine } from './machine-line.ts';
import { percentile } from './percentile.ts';

/**
 * `npm run bench:neighbours -- [--seconds 10] [--rounds 3] [--answer-ms 0]`: measures how long turns of nine trees take next to a tenth, in one process on
 * SQLite. The nine repeat a message, a search, a read and an answer. The tenth rests, or does harm in one way: it creates agents, floods with output,
 * searches with costly expressions, or calls tools wrongly. The cases alternate within one run.
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '3' },
    'answer-ms': { type: 'string', default: '0' },
  },
});
const PHASE_MS = Number(values.seconds) * 1_000;
/** Milliseconds that the model of the nine takes for an answer; that of the tenth takes no time. */
const ANSWER_MS = Number(values['answer-ms']);
const NEIGHBOURS = 9;
const PAUSE_MS = 100;

type Rules = Parameters<typeof createScriptedModel>[0]['rules'];
type Call = NonNullable<Rules[number]['calls']>[number];

const calls = (name: string, input: Call['input'], repeat = 1): Call => ({ name, input, repeat });
const LARGE = 'x'.repeat(200_000);
/** Answer of the tenth tree's model to everything, until its turn is ended by a limit. */
const HARM: Readonly<Record<string, readonly Call[]>> = {
  'creates agents': [calls('fork', { name: 'c{{index}}', prompt: 'go on' }, 8)],
  'floods with output': [calls('bash', { command: 'yes flood | head -c 50000000' })],
  'searches with costly expressions': [calls('search', { pattern: '(a+)+(b+)+(a|b)*$', path: '.' }, 4)],
  'calls tools wrongly': [
    calls('read', { path: LARGE }, 4),
    calls('patch', { path: 'a', edits: LARGE }, 4),
    calls(LARGE.slice(0, 1_000), {}, 4),
  ],
};
const HONEST: Rules = [
  { when: { tool: 'read' }, delay_ms: ANSWER_MS, say: 'It is in there.' },
  { when: { tool: 'search' }, delay_ms: ANSWER_MS, calls: [calls('read', { path: 'notes.txt' })] },
  { delay_ms: ANSWER_MS, calls: [calls('search', { pattern: 'needle', path: '.' })] },
];

const folder = mkdtempSync(join(tmpdir(), 'coppice-bench-'));
const work = join(folder, 'work');
mkdirSync(work);
writeFileSync(join(work, 'notes.txt'), `${'hay\n'.repeat(500)}needle\n`);
writeFileSync(join(work, 'long.txt'), `${'ab'.repeat(20_000)}!\n`.repeat(5));
const store = await openStore(`sqlite:${join(folder, 'ledger.db')}`);
const runtime = await openRuntime({
  store,
  openModel: async (name) => {
    const harm = HARM[name.slice(name.indexOf('/') + 1)];
    return createScriptedModel({ rules: harm === undefined ? HONEST : [{ calls: [...harm] }] }, name);
  },
  tools: createBuiltInTools(),
  spill_dir: join(folder, 'output'),
  env_allow: [],
});
const start = (model: string) =>
  runtime.start({
    prompt: 'begin',
    limits: { ...DEFAULT_LIMITS, turns: 100_000 },
    config: {
      model,
      thinking: 'off',
      system: 'bench',
      toolsets: ['process'],
      tools: ['bash', 'read', 'search', 'patch'],
      cwd: work,
      permissions: { cli: { allow: ['*'], ask: [], deny: [] }, config: { allow: [], ask: [], deny: [] } },
    },
  });
const neighbours = await Promise.all(Array.from({ length: NEIGHBOURS }, () => start('bench/honest')));
for (const { id } of neighbours) await runtime.settled(id);

/** Runs one phase. `turns`: milliseconds from message to answer, of all turns of the nine. `holds`: milliseconds by which timers were late. */
async function phase(harm: string | null): Promise<{ readonly turns: number[]; readonly holds: number[] }> {
  const end_ms = performance.now() + PHASE_MS;
  const turns: number[] = [];
  const holds: number[] = [];
  let last_ms = performance.now();
  const ticking = setInterval(() => {
    const now_ms = performance.now();
    holds.push(now_ms - last_ms - 10);
    last_ms = now_ms;
  }, 10);
  let hostile: string | null = null;
  const rage = async () => {
    while (harm !== null && performance.now() < end_ms) {
      const root = await start(`bench/${harm}`);
      hostile = root.id;
      await runtime.settled(root.id);
    }
  };
  const raging = rage();
  await Promise.all(
    neighbours.map(async ({ id }, place) => {
      await new Promise((resolve) => setTimeout(resolve, (place * PAUSE_MS) / NEIGHBOURS));
      while (performance.now() < end_ms) {
        const began_ms = performance.now();
        await runtime.send(id, 'where is the needle?');
        await runtime.settled(id);
        turns.push(performance.now() - began_ms);
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }),
  );
  if (hostile !== null) await runtime.kill(hostile);
  await raging;
  clearInterval(ticking);
  return { turns, holds };
}

console.log(
  `ten trees in one process, SQLite on disk, commands without a sandbox, answers after ${ANSWER_MS} ms; ${machineLine()}`,
);
await phase(null);
const all = new Map<string, { turns: number[]; holds: number[] }>();
for (let round = 0; round < Number(values.rounds); round += 1)
  for (const harm of [null, ...Object.keys(HARM)]) {
    const { turns, holds } = await phase(harm);
    const sum = all.get(harm ?? 'rests') ?? { turns: [], holds: [] };
    all.set(harm ?? 'rests', sum);
    sum.turns.push(...turns);
    sum.holds.push(...holds);
  }
console.log(
  'the tenth tree                      turns    p50       p95       longest   longest hold of the process',
);
for (const [harm, { turns, holds }] of all) {
  const ms = (value: number) => `${value.toFixed(0)} ms`.padEnd(10);
  console.log(
    harm.padEnd(35),
    String(turns.length).padEnd(8),
    ms(percentile(turns, 0.5)) +
      ms(percentile(turns, 0.95)) +
      ms(Math.max(...turns)) +
      ms(Math.max(...holds)),
  );
}
await runtime.close();
await store.close();
rmSync(folder, { recursive: true });
