import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ScriptedRules } from '../../src/models/scripted/scripted-rules.ts';
import { openStore } from '../../src/store/open-store.ts';
import { makeHome } from '../../test/cli/run-cli.ts';
import { enterTrees } from '../enter-trees.ts';

export interface MemoryUse {
  readonly agents: number;
  /** Resident bytes of the worker process. */
  readonly resident: number;
}

/** Number of children of each tree. */
const CHILDREN = 100;
const PATIENCE_MS = 300_000;
/** Idle time in which garbage of the beginning is collected. */
const CALM_MS = 5_000;
const RULES: ScriptedRules = {
  rules: [
    {
      when: { root: true, step: 0 },
      calls: [{ name: 'fork', input: { name: 'w{{index}}', prompt: 'wait' }, repeat: CHILDREN }],
    },
    { when: { root: true }, say: 'forked' },
    { calls: [{ name: 'wait', input: { timeout: 3_000 } }] },
  ],
};

/** Measures the memory of one real worker that leads waiting agents: trees with a hundred children each. Needs /proc (Linux). */
export async function memoryUse(database: string, trees: number): Promise<MemoryUse> {
  const home = makeHome();
  const store = await openStore(database);
  const file = join(home.work, 'rules.json');
  writeFileSync(file, JSON.stringify(RULES));
  const worker = home.start([
    'worker',
    '--database',
    database,
    '--log',
    'json',
    '--drain',
    '1',
    '--concurrency',
    '10000',
  ]);
  try {
    await enterTrees({
      store,
      count: trees,
      model: `scripted:${file}`,
      toolsets: ['process'],
      tools: [],
      folder: home.work,
      limits: { children: CHILDREN, live: 2 * CHILDREN, total: 2 * CHILDREN },
    });
    const agents = trees * (CHILDREN + 1);
    for (const end = Date.now() + PATIENCE_MS; ; await sleep(500)) {
      const all = await store.agents({ living: true });
      const parked = all.filter(
        ({ state }) => state.type === 'executing' && state.running[0]?.wait !== undefined,
      );
      if (parked.length === trees * CHILDREN && (await store.workers()).length > 0) break;
      if (Date.now() > end) throw new Error(`only ${parked.length} of ${trees * CHILDREN} wait`);
    }
    await sleep(CALM_MS);
    return { agents, resident: resident(worker.child.pid as number) };
  } finally {
    worker.child.kill('SIGTERM');
    await worker.ended;
    await store.close();
  }
}

function resident(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1_024;
}
