import { titleOf } from '../../documents/tree-titles.ts';
import type { Agent } from '../../records/agent/agent.ts';
import { isTerminal } from '../../records/agent/state.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { statusWord } from '../../render/agent-status.ts';
import { clean } from '../../render/clean.ts';
import { nearestName } from '../../render/nearest-name.ts';
import { workFolder } from '../../settings/folders.ts';
import type { Store } from '../../store/store.ts';
import type { Context } from '../setup/context.ts';

const CANDIDATES = 8;

/**
 * The one agent that a uuid, a unique prefix, a name or a session key means. A name that several have means the one in the newest tree of this
 * folder, and it is said which tree that is; `living` leaves those out that have ended, where one lives. Rejects with what else it may have been.
 */
export async function findAgent(
  context: Context,
  store: Store,
  text: string,
  { living = false }: { readonly living?: boolean } = {},
): Promise<Agent> {
  const found = await store.find(text);
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  if (only === undefined) throw await notFound(store, text);
  const near = await nearest(context, store, text);
  const here = near.length > 0 ? pick(near, living) : null;
  if (here !== null) {
    const root = (await store.agent(here.root_id)) ?? here;
    process.stderr.write(`${clean(here.name)} of the tree ${await nameOfTree(store, root)}\n`);
    return here;
  }
  const any = near.length > 0 ? null : pick(found, true);
  if (any !== null) return any;
  const listed = (near.length > 0 ? near : found).slice(0, CANDIDATES);
  const list = await Promise.all(listed.map((agent) => describe(store, agent)));
  throw new CoppiceError('E_AGENT_AMBIGUOUS', `"${text}" matches ${found.length} agents`, {
    hint: `${list.join('\n')}\nUse a longer id.`,
  });
}

/** Agents of that name in the newest tree of this folder. */
async function nearest(context: Context, store: Store, name: string): Promise<Agent[]> {
  const root = await newestHere(context, store);
  if (root === null) return [];
  return (await store.find(name, root.id)).filter((agent) => agent.name === name);
}

/** The only one, or the only living one. */
function pick(agents: readonly Agent[], living: boolean): Agent | null {
  const alive = agents.filter((agent) => !isTerminal(agent.state.type));
  const [one, ...more] = living && alive.length > 0 ? alive : agents;
  if (one !== undefined && more.length === 0) return one;
  return alive.length === 1 ? (alive[0] ?? null) : null;
}

/** The newest conversation of this folder. */
async function newestHere(context: Context, store: Store): Promise<Agent | null> {
  const [newest] = await store.agents({
    conversations: true,
    cwd: workFolder(context.options.cwd),
    limit: 1,
  });
  return newest ?? null;
}

/**
 * The root of the tree of the agent that `text` means; without `text`, of the newest tree of this folder. A folder without trees: an error for
 * commands that continue the tree (`only_here`), and for others the newest tree of all, with a note on stderr.
 */
export async function findRoot(
  context: Context,
  store: Store,
  text: string | undefined,
  { only_here = false }: { readonly only_here?: boolean } = {},
): Promise<Agent> {
  if (text !== undefined) {
    const agent = await findAgent(context, store, text);
    return (await store.agent(agent.root_id)) ?? agent;
  }
  const here = await newestHere(context, store);
  if (here !== null) return here;
  const [newest] = await store.agents({ conversations: true, limit: 1 });
  if (newest === undefined)
    throw new CoppiceError('E_AGENT_NOT_FOUND', 'there is no agent yet', {
      hint: 'Start one: coppice run "…"',
    });
  const where = `${await nameOfTree(store, newest)} in ${clean(newest.config.cwd)}`;
  if (only_here)
    throw new CoppiceError('E_AGENT_NOT_FOUND', 'no tree works in this folder', {
      hint: `The newest of another folder: ${where}. Name it, if you mean it. See: coppice ps --all`,
    });
  process.stderr.write(`no tree works in this folder; the newest of all: ${where}\n`);
  return newest;
}

async function notFound(store: Store, text: string): Promise<CoppiceError> {
  const recent = await store.agents({ limit: 200 });
  const name = nearestName(
    text,
    recent.map((agent) => agent.name),
  );
  const nearest = recent.find((agent) => agent.name === name);
  const hint = `${nearest !== undefined ? `Did you mean ${await describe(store, nearest)}?\n` : ''}See: coppice ps --all`;
  return new CoppiceError('E_AGENT_NOT_FOUND', `no agent called "${text}"`, { hint });
}

async function describe(store: Store, agent: Agent): Promise<string> {
  const root = (await store.agent(agent.root_id)) ?? agent;
  return `${clean(agent.name)} (${agent.id.slice(0, 8)}, ${statusWord(agent)}), tree ${await nameOfTree(store, root)}`;
}

/** Short id and title of a tree. */
export async function nameOfTree(store: Store, root: Pick<Agent, 'id' | 'name'>): Promise<string> {
  return `${root.id.slice(0, 8)} (${await titleOf(store, root)})`;
}
