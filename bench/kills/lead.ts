import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Model } from '../../src/models/model.ts';
import { createScriptedModel } from '../../src/models/scripted/scripted-model.ts';
import type { Agent, AgentConfig } from '../../src/records/agent/agent.ts';
import { openRuntime } from '../../src/runtime/open-runtime.ts';
import type { RuntimeFace } from '../../src/runtime/runtime-face.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { derivedId } from '../../src/trees/derived-id.ts';
import { rewindTree } from '../../src/trees/rewind/rewind-tree.ts';
import { termsOf, workflowHost } from '../../test/workflows/staged-workflow.ts';
import { COUNTING, countingTools } from './counting-tools.ts';
import { Journal } from './journal.ts';
import type { StepKind } from './kill-points.ts';
import { Killer, type KillOrder } from './killer.ts';
import { readyThread } from './thread-killer.ts';
import { INNER_SCRIPT, SCRIPT, SECOND_ROUND, TREE_KINDS, type TreeKind, treeRules } from './tree-rules.ts';
import { watchedStore } from './watched-store.ts';

/** Arguments of a leader process. */
export interface LeadOptions {
  readonly database: string;
  /** Folder of the run's journals, `counts` and `done`. */
  readonly folder: string;
  /** Number of the leader in its run, from 1. */
  readonly life: number;
  /** Names of the trees of the run, `KIND-NUMBER`. */
  readonly trees: readonly string[];
  /** Trees led at a time. */
  readonly width: number;
  /** Null: the leader is not killed. */
  readonly order: KillOrder | null;
}

/** Delay before a takeover is retried, because another process may still hold a lease for a moment. */
const AGAIN_MS = 50;

/** Leads the trees of a run to their end, from wherever the previous leader left them, unless its order kills it first. */
export async function lead(
  options: LeadOptions,
  wrap: (store: Store) => Store = (store) => store,
): Promise<void> {
  endWithStarter();
  const { folder, order, width } = options;
  const journal = new Journal(join(folder, `journal-${options.life}`));
  const killer = new Killer(order, (point, hit) => journal.death(point, hit));
  const strike = order?.point === 'in-commit' ? await readyThread(order.delay_us) : () => undefined;
  const newest = new Map<string, StepKind>();
  const store = watchedStore(wrap(await openStore(options.database)), {
    journal,
    killer,
    strike,
    newest,
  });
  const runtime = await openRuntime({
    store,
    openModel: async () => mortalModel(createScriptedModel(treeRules(), 'kills'), killer, newest),
    workflows: workflowHost({ inner: INNER_SCRIPT }),
    tools: countingTools(join(folder, 'counts'), killer, newest),
    spill_dir: folder,
    env_allow: [],
  });
  const begun = (await store.agents({ conversations: true })).filter(({ was }) => was === undefined);
  const roots = new Map(begun.map(({ name, id }) => [name, id]));
  const left = options.trees.filter((name) => !doneTrees(folder).has(name));
  const some = async () => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      await bringToEnd(runtime, store, name, roots.get(name), folder);
      appendFileSync(join(folder, 'done'), `${name}\n`);
    }
  };
  await Promise.all(Array.from({ length: width }, some));
  await runtime.close();
  await store.close();
  journal.close();
}

/** Exits when the process that started this one is gone. */
function endWithStarter(): void {
  const input = process.stdin as Socket;
  input.on('close', () => process.exit(1)).resume();
  input.unref();
}

function doneTrees(folder: string): ReadonlySet<string> {
  const file = join(folder, 'done');
  return new Set(existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []);
}

/** Leads a tree until it rests, takes it back and leads the new one, writes to the old one, and leads it until it rests again. */
async function bringToEnd(
  runtime: RuntimeFace,
  store: Store,
  name: string,
  known: string | undefined,
  folder: string,
): Promise<void> {
  const root_id = known ?? (await begin(runtime, name, folder));
  if (known !== undefined) while ((await runtime.resume(root_id)).elsewhere > 0) await sleep(AGAIN_MS);
  await runtime.settled(root_id);
  await goOnFromBefore(runtime, store, root_id, folder);
  // Idempotent by its id: a previous leader may have sent it.
  await runtime.send(root_id, SECOND_ROUND, { id: `second-${root_id}` });
  await runtime.settled(root_id);
}

/** Once for each tree, from a message that its id chooses, whichever leader comes to it. */
async function goOnFromBefore(
  runtime: RuntimeFace,
  store: Store,
  root_id: string,
  folder: string,
): Promise<void> {
  const root = (await store.agent(root_id)) as Agent;
  const id = derivedId(`kills cut ${root_id}`);
  if (root.config.workflow !== undefined) return;
  if ((await store.agent(id)) === null) {
    const to = String(1 + (Number.parseInt(root_id.slice(0, 8), 16) % root.last_seq));
    await rewindTree(store, root, { to }, id, folder);
  }
  while ((await runtime.resume(id)).elsewhere > 0) await sleep(AGAIN_MS);
  await runtime.settled(id);
}

async function begin(runtime: RuntimeFace, name: string, folder: string): Promise<string> {
  const none = { allow: [], ask: [], deny: [] };
  const config: AgentConfig = {
    model: 'scripted/kills',
    thinking: 'off',
    system: 'You may be killed at any moment.',
    toolsets: TREE_KINDS[name.split('-')[0] as TreeKind],
    tools: [...COUNTING],
    cwd: folder,
    permissions: { cli: { ...none, allow: ['*'] }, config: none },
    ...(name.startsWith('workflow-') ? { workflow: termsOf(SCRIPT) } : {}),
  };
  return (await runtime.start({ prompt: 'begin', name, config })).id;
}

function mortalModel(model: Model, killer: Killer, newest: ReadonlyMap<string, StepKind>): Model {
  return {
    ...model,
    stream(request, onDelta) {
      if (killer.reached('before-effect', [newest.get(request.agent.id) ?? 'answer'])) killer.die();
      return model.stream(request, onDelta);
    },
  };
}

// One leader process: `lead.ts OPTIONS`, a `LeadOptions` as JSON.
if (process.argv[1] === import.meta.filename) await lead(JSON.parse(process.argv[2] ?? '') as LeadOptions);
