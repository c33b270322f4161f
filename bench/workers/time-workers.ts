import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { makeHome } from '../../test/cli/run-cli.ts';
import { enterTrees } from '../enter-trees.ts';

export interface WorkersLoad {
  readonly database: string;
  readonly workers: number;
  readonly trees: number;
  /** Maximum concurrent trees of each worker. */
  readonly concurrency: number;
  /** Delay of each model answer, in milliseconds. */
  readonly answer_ms: number;
  /** Calls of each tree, one after another, and seconds that each takes. */
  readonly calls: number;
  readonly call_seconds: number;
}

const LOOK_MS = 100;
const PATIENCE_MS = 600_000;

/** Milliseconds from when the first tree is entered, with all workers ready, until the last one has answered. Rejects when one ends wrong. */
export async function timeWorkers(load: WorkersLoad): Promise<number> {
  const home = makeHome();
  const store = await openStore(load.database);
  const model = spawn(
    process.execPath,
    [
      join(import.meta.dirname, 'slow-model.ts'),
      `${load.answer_ms}`,
      `${load.calls}`,
      `${load.call_seconds}`,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  try {
    const port = String((await once(model.stdout, 'data'))[0]).trim();
    home.configure({
      providers: { slow: { type: 'openai-compatible', baseURL: `http://127.0.0.1:${port}/v1` } },
    });
    const args = ['worker', '--database', load.database, '--log', 'json', '--drain', '1'];
    const workers = Array.from({ length: load.workers }, () =>
      home.start([...args, '--concurrency', `${load.concurrency}`]),
    );
    try {
      await until(async () => (await store.workers()).length === load.workers, 'all workers are ready');
      const begun = performance.now();
      await enterTrees({
        store,
        count: load.trees,
        model: 'slow/m',
        toolsets: [],
        tools: ['bash'],
        folder: home.work,
      });
      await until(() => haveAnswered(store, load.trees), 'all trees have answered');
      return performance.now() - begun;
    } finally {
      for (const { child } of workers) child.kill('SIGTERM');
      await Promise.all(workers.map(({ ended }) => ended));
    }
  } finally {
    await stop(model);
    await store.close();
  }
}

async function haveAnswered(store: Store, trees: number): Promise<boolean> {
  const roots = await store.agents({ conversations: true });
  const wrong = roots.find(({ state }) => state.type === 'errored');
  if (wrong !== undefined) throw new Error(`a tree ended wrong: ${JSON.stringify(wrong.state)}`);
  return roots.filter(({ reply }) => reply === 'done').length === trees;
}

async function until(holds: () => Promise<boolean>, what: string): Promise<void> {
  for (const end = performance.now() + PATIENCE_MS; !(await holds()); await sleep(LOOK_MS))
    if (performance.now() > end) throw new Error(`not within ${PATIENCE_MS / 1_000} s: ${what}`);
}

async function stop(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}
