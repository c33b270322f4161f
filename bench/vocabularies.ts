import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_TERMS } from '../src/kernel/toolsets/toolset-terms.ts';
import type { Model } from '../src/models/model.ts';
import { createScriptedModel } from '../src/models/scripted/scripted-model.ts';
import { DEFAULT_LIMITS } from '../src/records/agent/limits.ts';
import { openRuntime } from '../src/runtime/open-runtime.ts';
import { openStore } from '../src/store/open-store.ts';

/**
 * `npm run bench:vocabularies [N]`: measures N children (default 100) created in one message, in each of the five vocabularies, with the scripted model and
 * SQLite on disk. Every child returns a result of 2,000 characters. Eight model requests run at once, as a provider's gate admits them, and each is answered
 * after a turn of the event loop. Each vocabulary is measured in a process of its own, after a warm-up with ten children.
 */
const RESULT = 'r'.repeat(2_000);
const AT_ONCE = 8;

type Rules = Parameters<typeof createScriptedModel>[0]['rules'];
type Calls = NonNullable<Rules[number]['calls']>;

const rulesOf = (create: Calls[number], child: Rules, later: Rules = []): Rules => [
  { when: { root: true, step: 0 }, calls: [create] },
  ...later,
  { when: { root: true }, say: 'seen' },
  ...child,
];

/** Rules for what the root does first, what each child does, and what the root does then. */
const VOCABULARIES: Readonly<Record<string, (count: number) => Rules>> = {
  process: (count) =>
    rulesOf(
      { name: 'fork', input: { name: 'c{{index}}', prompt: 'report' }, repeat: count },
      [
        { when: { step: 0 }, calls: [{ name: 'send', input: { to: '{{parent_id}}', message: RESULT } }] },
        { say: 'done' },
      ],
      [
        {
          when: { root: true, step: 1 },
          calls: [{ name: 'wait', input: { timeout: 3600, from_agents: '{{results.fork.*.agent_id}}' } }],
        },
      ],
    ),
  slash: (count) =>
    rulesOf(
      { name: 'slash', input: { command: 'fork "report {{index}}"' }, repeat: count },
      [
        { when: { step: 0 }, calls: [{ name: 'slash', input: { command: `send {{parent_id}} ${RESULT}` } }] },
        { say: 'done' },
      ],
      [
        {
          when: { root: true, user: '^got mail' },
          calls: [{ name: 'slash', input: { command: 'check-mail' } }],
          once: true,
        },
      ],
    ),
  fanout: (count) =>
    rulesOf(
      {
        name: 'spawn_agents',
        input: { tasks: Array.from({ length: count }, (_, index) => ({ task: `report ${index}` })) },
      },
      [{ calls: [{ name: 'submit_result', input: { result: RESULT } }] }],
    ),
  sessions: (count) =>
    rulesOf({ name: 'sessions_spawn', input: { task: 'report {{index}}' }, repeat: count }, [
      { say: RESULT },
    ]),
  delegate: (count) =>
    rulesOf(
      {
        name: 'subagent_spawn',
        input: { task: 'report {{index}}', description: 'c{{index}}' },
        repeat: count,
      },
      [{ say: RESULT }],
    ),
};

/** Limits the requests in flight; the others queue. */
function gated(model: Model): Model {
  let free = AT_ONCE;
  const line: (() => void)[] = [];
  return {
    ...model,
    async stream(request, onDelta) {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => line.push(resolve));
      await new Promise((resolve) => setImmediate(resolve));
      try {
        return await model.stream(request, onDelta);
      } finally {
        const next = line.shift();
        if (next === undefined) free += 1;
        else next();
      }
    },
  };
}

interface Measurement {
  readonly wall_ms: number;
  readonly cpu_ms: number;
  readonly peak_mb: number;
  readonly commits: number;
  readonly steps: number;
  readonly requests: number;
}

async function measured(vocabulary: string, count: number): Promise<Measurement> {
  const folder = mkdtempSync(join(tmpdir(), 'coppice-bench-'));
  const store = await openStore(`sqlite:${join(folder, 'ledger.db')}`);
  let [commits, steps, requests] = [0, 0, 0];
  const commit = store.commit.bind(store);
  store.commit = (all) => {
    commits += 1;
    steps += all.length;
    requests += all.reduce((sum, step) => sum + step.requests.length, 0);
    return commit(all);
  };
  const rules = (VOCABULARIES[vocabulary] as (typeof VOCABULARIES)[string])(count);
  const model = gated(createScriptedModel({ rules }, vocabulary));
  const runtime = await openRuntime({
    store,
    openModel: async () => model,
    tools: [],
    terms: { subagents: { ...DEFAULT_TERMS.subagents, max_concurrent: count } },
    spill_dir: folder,
    env_allow: [],
  });
  const none = { allow: [], ask: [], deny: [] };
  const cpu = process.cpuUsage();
  const started_at = performance.now();
  const root = await runtime.start({
    prompt: 'begin',
    limits: { ...DEFAULT_LIMITS, children: count, live: count + 1, total: count + 1, turns: 100_000 },
    config: {
      model: 'scripted/bench',
      thinking: 'off',
      system: 'bench',
      toolsets: [vocabulary],
      tools: [],
      cwd: folder,
      permissions: { cli: none, config: none },
    },
  });
  const { agents, reply, failure } = await runtime.settled(root.id);
  const wall_ms = performance.now() - started_at;
  const used = process.cpuUsage(cpu);
  const unfinished = agents.filter(({ state }) => state.type !== 'idle' && state.type !== 'completed');
  if (agents.length !== count + 1 || unfinished.length > 0 || reply !== 'seen')
    throw new Error(`${vocabulary}: wrong: ${agents.length} agents, "${reply}", ${failure?.error}`);
  await runtime.close();
  await store.close();
  rmSync(folder, { recursive: true });
  return {
    wall_ms,
    cpu_ms: (used.user + used.system) / 1000,
    peak_mb: process.resourceUsage().maxRSS / 1024,
    commits,
    steps,
    requests,
  };
}

async function inProcess(vocabulary: string, count: number): Promise<Measurement> {
  const child = spawn(process.execPath, [import.meta.filename, String(count), vocabulary], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0) throw new Error(`${vocabulary} failed`);
  return JSON.parse(out) as Measurement;
}

const [size = '100', only] = process.argv.slice(2);
const count = Number(size);
if (only !== undefined) {
  await measured(only, 10);
  console.log(JSON.stringify(await measured(only, count)));
} else {
  console.log(
    `${count} children made in one message, results of ${RESULT.length} characters, scripted model, ${AT_ONCE} requests at once, SQLite on disk, one process each`,
  );
  console.log(`${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}\n`);
  console.log(
    'vocabulary       wall       CPU      peak   commits     steps  requests    CPU/child  commits/child',
  );
  for (const vocabulary of Object.keys(VOCABULARIES)) {
    const it = await inProcess(vocabulary, count);
    const cell = (value: number, unit: string, width: number, digits = 0) =>
      `${value.toFixed(digits)}${unit}`.padStart(width);
    console.log(
      vocabulary.padEnd(10),
      cell(it.wall_ms, ' ms', 10),
      cell(it.cpu_ms, ' ms', 9),
      cell(it.peak_mb, ' MB', 9),
      cell(it.commits, '', 9),
      cell(it.steps, '', 9),
      cell(it.requests, '', 9),
      cell(it.cpu_ms / count, ' ms', 12, 2),
      cell(it.commits / count, '', 14, 2),
    );
  }
}
