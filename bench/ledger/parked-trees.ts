import { randomUUID } from 'node:crypto';
import type { Step } from '../../src/kernel/step.ts';
import type { Agent, AgentConfig } from '../../src/records/agent/agent.ts';
import { DEFAULT_LIMITS } from '../../src/records/agent/limits.ts';
import { newTurn } from '../../src/records/agent/state.ts';
import type { NewAgent } from '../../src/records/run/new-agent.ts';
import type { Store } from '../../src/store/store.ts';
import { CONFIG, newAgent, said, stepOf } from '../../test/store/ledger-fixture.ts';
import { BENCH_MODEL } from './bench-model.ts';
import { inParallel } from './in-parallel.ts';

export const AGENTS_PER_TREE = 10;
const DAY_MS = 86_400_000;
/** Trees whose forks are created in one commit. */
const TREES_PER_COMMIT = 50;

/** An agent in the middle of a turn, parked for a day in a wait for the next letter. */
function waiting(parent: Agent | null, worker: string, now: number): NewAgent {
  const config: AgentConfig = { ...CONFIG, model: BENCH_MODEL, system: 'You work.' };
  const call = { id: 'call-1', name: 'wait', input: `{"timeout":${DAY_MS / 1_000}}` };
  return newAgent(
    parent,
    {
      config,
      worker,
      state: {
        type: 'executing',
        seq: 2,
        running: [
          {
            call: { ...call, side_by_side: true, idempotent: true },
            wait: { from: null, deadline: now + DAY_MS },
          },
        ],
        queued: [],
        results: [],
        spawned: [],
        early: [],
        turn: newTurn(now),
      },
    },
    [
      said('Wait for the next letter, then say what is in it.'),
      {
        kind: 'assistant',
        content: { model: BENCH_MODEL, parts: [{ type: 'call', ...call }] },
      },
    ],
  );
}

/**
 * Creates trees of parked agents as a server would leave them: served, each with a root and nine forks that wait for a letter, led by nobody. Rounds
 * `agents` up to whole trees. Resolves to one fork of each tree.
 */
export async function enterParkedTrees(store: Store, agents: number, concurrency: number): Promise<string[]> {
  const worker = { id: `bench-${randomUUID()}`, host: 'elsewhere', pid: 1 };
  const now = await store.now();
  const trees = Math.ceil(agents / AGENTS_PER_TREE);
  const groups = Array.from({ length: Math.ceil(trees / TREES_PER_COMMIT) }, (_, group) =>
    Math.min(TREES_PER_COMMIT, trees - group * TREES_PER_COMMIT),
  );
  const children: string[] = [];
  await store.heartbeat(worker);
  await inParallel(groups, concurrency, async (size) => {
    const made = Array.from({ length: size }, () => waiting(null, worker.id, now));
    const steps: Step[] = [];
    for (const root of made) {
      await store.createRoot(root, { ...DEFAULT_LIMITS, run_ms: 2 * DAY_MS }, { served: true });
      const led = (await store.agent(root.agent.id)) as Agent;
      const kids = Array.from({ length: AGENTS_PER_TREE - 1 }, () => waiting(led, worker.id, now));
      steps.push(stepOf(led, { create: kids }));
      children.push(kids[0]?.agent.id ?? '');
    }
    for (const verdict of await store.commit(steps))
      if (!verdict.ok) throw new Error(`a tree was refused: ${JSON.stringify(verdict)}`);
    for (const { agent_id, create } of steps) {
      const ids = [agent_id, ...create.map(({ agent }) => agent.id)];
      await store.releaseTree(agent_id, worker.id, new Map(ids.map((id) => [id, now + DAY_MS])));
    }
    // A lease lasts only seconds.
    await store.heartbeat(worker);
  });
  await store.release(worker.id);
  return children;
}
