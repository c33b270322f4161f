import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createScriptedModel } from '../../src/models/scripted/scripted-model.ts';
import type { Agent } from '../../src/records/agent/agent.ts';
import { openRuntime } from '../../src/runtime/open-runtime.ts';
import type { RuntimeFace } from '../../src/runtime/runtime-face.ts';
import { AGENT_ROUTES } from '../../src/serve/api/agent-routes.ts';
import { callRoute } from '../../src/serve/api/call-route.ts';
import { PEOPLE_ROUTES } from '../../src/serve/api/people-routes.ts';
import type { ApiSources, Route } from '../../src/serve/api/route.ts';
import { TREE_ROUTES } from '../../src/serve/api/tree-routes.ts';
import { openStore } from '../../src/store/open-store.ts';
import { removeOld } from '../../src/store/remove-old.ts';
import type { Store } from '../../src/store/store.ts';
import { TreeTimelines } from '../../src/trees/timeline/tree-timelines.ts';
import { UsageRollUp } from '../../src/trees/usage/usage-roll-up.ts';
import { hangTool } from '../../test/runtime/hang-tool.ts';
import { CONFIG, letter, newAgent, said, stepOf } from '../../test/store/ledger-fixture.ts';
import { BENCH_MODEL } from '../ledger/bench-model.ts';
import type { GrownLedger } from './grown-ledger.ts';

/** Where an operation is measured. */
export interface Ground extends GrownLedger {
  readonly url: string;
  readonly store: Store;
}

export interface Operation {
  readonly name: string;
  /**
   * `constant`: it costs the same on a ledger of any size. `indexed`: it reads the same rows, and the database looks at entries of an index or at the agents of
   * one tree. `linear`: what it does is as large as the ledger.
   */
  readonly grows: 'constant' | 'indexed' | 'linear';
  readonly rounds: number;
  readonly run: (ground: Ground) => Promise<void>;
}

const WORKER = { id: 'growth', host: 'elsewhere', pid: 1 };
const ALL: readonly Route[] = [...AGENT_ROUTES, ...PEOPLE_ROUTES, ...TREE_ROUTES];
/** Letters to an agent at work, for each tree of the ledger. */
const LETTERS = 0.2;

/** Calls a route as the server would. */
function get(
  route: string,
  query: Readonly<Record<string, string>>,
  path: (ground: Ground) => Readonly<Record<string, string>> = () => ({}),
): Operation['run'] {
  const found = ALL.find((one) => `GET ${one.path}` === route);
  if (found === undefined) throw new Error(`no route ${route}`);
  return async (ground) => {
    const { store } = ground;
    const sources = {
      store,
      unled: { env: {}, options: {} },
      timelines: new TreeTimelines(store),
    } as unknown as ApiSources;
    const signal = new AbortController().signal;
    await callRoute(found, sources, { path: path(ground), query, body: {}, id: randomUUID(), signal });
  };
}

const constant = (name: string, run: Operation['run'], rounds = 7): Operation => ({
  name,
  grows: 'constant',
  rounds,
  run,
});
const indexed = (name: string, run: Operation['run'], rounds = 7): Operation => ({
  name,
  grows: 'indexed',
  rounds,
  run,
});
const linear = (name: string, run: Operation['run'], rounds = 1): Operation => ({
  name,
  grows: 'linear',
  rounds,
  run,
});

async function led({ store, usual }: Ground): Promise<Agent> {
  await store.heartbeat(WORKER);
  await store.claim(usual.root_id, WORKER);
  return (await store.agent(usual.id)) as Agent;
}

async function step(store: Store, agent: Agent, over: Parameters<typeof stepOf>[1]): Promise<void> {
  const [verdict] = await store.commit([stepOf(agent, over)]);
  if (verdict?.ok !== true) throw new Error(JSON.stringify(verdict));
}

async function runtimeOf(store: Store): Promise<RuntimeFace> {
  return openRuntime({
    store,
    openModel: async () =>
      createScriptedModel({ rules: [{ calls: [{ name: 'hang', input: {} }] }] }, 'bench'),
    tools: [hangTool()],
    spill_dir: process.cwd(),
    env_allow: [],
  });
}

/** Letters of another process to an agent whose call runs, until the process that leads it has them. */
async function lettersToBusy({ store, url, trees }: Ground): Promise<void> {
  const own = await openStore(url);
  const runtime = await runtimeOf(own);
  const root = await runtime.start({
    prompt: 'Work.',
    config: { ...CONFIG, model: BENCH_MODEL, tools: ['hang'], permissions: { cli: ALLOW, config: NONE } },
    limits: {},
  });
  while ((await store.agent(root.id))?.state.type !== 'executing') await sleep(5);
  const count = Math.max(2, trees * LETTERS);
  let sent = 0;
  for (let at = 0; at < count; at += 1) {
    const verdict = await store.send({ ...letter(root, root), id: randomUUID(), from_id: null });
    if (!verdict.ok) throw new Error(JSON.stringify(verdict));
    sent += 1;
    await sleep(1);
  }
  if (sent !== count) throw new Error('letters were lost');
  await runtime.kill(root.id);
  await runtime.close();
  await own.close();
}

const NONE = { allow: [], ask: [], deny: [] };
const ALLOW = { allow: ['*'], ask: [], deny: [] };

export const OPERATIONS: readonly Operation[] = [
  constant('commit', async (ground) => {
    await step(ground.store, await led(ground), { messages: [said('x')] });
  }),
  constant('fork', async (ground) => {
    const agent = await led(ground);
    await step(ground.store, agent, { create: [newAgent(agent)] });
  }),
  constant('wake-up: a letter, claim, release', async (ground) => {
    const { store, usual } = ground;
    await store.releaseTree(usual.root_id, WORKER.id);
    const agent = await led(ground);
    await store.send({ ...letter(agent, agent), id: randomUUID(), from_id: null });
    await store.unledTrees(10);
    await store.releaseTree(usual.root_id, WORKER.id);
  }),
  constant('start: open the ledger', async ({ url }) => (await openStore(url)).close()),
  constant('ps', get('GET /v1/agents', {})),
  constant(
    'tree',
    get('GET /v1/trees/:tree', {}, ({ usual }) => ({ tree: usual.root_id })),
  ),
  indexed('show: find by name and open', get('GET /v1/agents', { called: 'kid-1' })),
  indexed(
    'GET agent, long conversation',
    get('GET /v1/agents/:agent', {}, ({ long }) => ({ agent: long })),
  ),
  constant(
    'logs --tail 10',
    get('GET /v1/agents/:agent/messages', { tail: '10' }, ({ long }) => ({ agent: long })),
  ),
  constant(
    'requests page',
    get('GET /v1/agents/:agent/requests', {}, ({ long }) => ({ agent: long })),
  ),
  constant(
    'mail list of a wide tree',
    get('GET /v1/trees/:tree/mail', { limit: '10' }, ({ wide }) => ({ tree: wide })),
  ),
  indexed('trees list, a wide tree among them', get('GET /v1/trees', { limit: '10' })),
  constant('asks page', get('GET /v1/approvals', { limit: '20' })),
  linear(
    'send in a wide tree',
    async ({ store, wide }) => {
      const root = (await store.agent(wide)) as Agent;
      await store.send({ ...letter(root, root), id: randomUUID(), from_id: null });
    },
    7,
  ),
  linear(
    'fork in a wide tree',
    async ({ store, wide }) => {
      const root = (await store.agent(wide)) as Agent;
      await step(store, root, { create: [newAgent(root, { worker: null })] });
    },
    7,
  ),
  linear('letters to a busy agent', lettersToBusy),
  linear('takeover of a wide tree', async ({ url, wide }) => {
    const store = await openStore(url);
    const runtime = await runtimeOf(store);
    await runtime.resume(wide);
    await runtime.close();
    await store.close();
  }),
  linear('usage', async ({ store }) => {
    for (const usage = new UsageRollUp(store); !(await usage.report(30, 10)).complete; );
  }),
  linear('gc of all trees', async ({ store }) => {
    const terms = { before: Date.now() - 86_400_000, idle: true };
    await removeOld(store, { terms, runs: true, dry_run: false, archive: null });
  }),
];
