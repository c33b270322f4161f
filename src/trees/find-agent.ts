import { agentJson } from '../documents/agent-json.ts';
import type { AgentDocument } from '../documents/shapes/agent-parts.ts';
import { titlesOf } from '../documents/tree-titles.ts';
import { type Agent, meant } from '../records/agent/agent.ts';
import type { Ask } from '../records/conversation/ask.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import type { Run } from '../records/run/run.ts';
import { cutText } from '../records/text/cut-text.ts';
import { clean } from '../render/clean.ts';
import type { Store } from '../store/store.ts';
import { type UnledContext, unledTrees } from './leaders/unled-reason.ts';

/** Sources of read-only documents. */
export interface ReadSources {
  readonly store: Store;
  readonly unled: UnledContext;
}

/** Maximum candidates that an error lists. */
const CANDIDATES = 8;

/** Where an agent is looked for, and the words of the door for a text that means none or several. */
interface Scope {
  /** Only among the agents of this tree. */
  readonly root_id?: string;
  /** Follows the name in `no agent called "x"`. */
  readonly where?: string;
  /** What lists the agents that there are. */
  readonly list?: string;
}

/**
 * Finds an agent by uuid, unique prefix, name or session key; of several matches, the only living one. Rejects with `E_AGENT_NOT_FOUND` or
 * `E_AGENT_AMBIGUOUS`.
 */
export async function oneAgent(
  store: Pick<Store, 'find'>,
  text: string,
  { root_id, where = '', list = 'See: coppice ps --all' }: Scope = {},
): Promise<Agent> {
  return oneOf(text, await store.find(text, root_id), {
    none: async () =>
      new CoppiceError('E_AGENT_NOT_FOUND', `no agent called "${text}"${where}`, { hint: list }),
    describe: async ({ id, name }) => `${clean(name)} (${id})`,
  });
}

/** Of the agents that a text fits, the one that it means; `hasEnded` is needed for those that are not from the ledger. Rejects as `oneAgent` does. */
export async function oneOf<Found>(
  text: string,
  found: readonly Found[],
  words: {
    readonly hasEnded?: (one: Found) => boolean;
    readonly none: () => Promise<CoppiceError>;
    readonly describe: (one: Found) => Promise<string>;
  },
): Promise<Found> {
  const which = meant(found, words.hasEnded);
  if (which.found === 'one') return which.agent;
  if (which.found === 'none') throw await words.none();
  const { candidates } = which;
  const list = await Promise.all(candidates.slice(0, CANDIDATES).map(words.describe));
  throw new CoppiceError('E_AGENT_AMBIGUOUS', `"${text}" matches ${candidates.length} agents`, {
    hint: `${list.join('\n')}\nUse a longer id.`,
  });
}

/** Whether an agent does not exist, or was deleted with its run. */
export function isNotFound(error: unknown): boolean {
  return error instanceof CoppiceError && error.code === 'E_AGENT_NOT_FOUND';
}

/** Finds an agent as `oneAgent` does, and returns the root of its tree. */
export async function oneRoot(store: Store, text: string): Promise<Agent> {
  const agent = await oneAgent(store, text);
  return agent.parent_id === null ? agent : ((await store.agent(agent.root_id)) ?? agent);
}

/** Finds a run by id, unique prefix or session key. Rejects with `E_RUN_NOT_FOUND` or `E_RUN_AMBIGUOUS`. */
export async function oneRun(store: Store, text: string): Promise<Run> {
  const found = await store.findRuns(text);
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  if (only === undefined)
    throw new CoppiceError('E_RUN_NOT_FOUND', `no run "${text}"`, { hint: 'See: coppice subagent history' });
  const list = found.map((run) => `${run.id} (${run.label ?? cutText(run.task, 40)}, ${run.status})`);
  throw new CoppiceError('E_RUN_AMBIGUOUS', `"${text}" matches ${found.length} runs`, {
    hint: `${list.join('\n')}\nUse a longer id.`,
  });
}

/** Agents as documents. `asks`: their open approvals. */
export async function agentsJson(
  { store, unled }: ReadSources,
  agents: readonly Agent[],
  asks: readonly Ask[],
): Promise<AgentDocument[]> {
  const roots = agents.filter((agent) => agent.parent_id === null);
  const [unled_trees, titles] = await Promise.all([unledTrees(unled, store, agents), titlesOf(store, roots)]);
  return agents.map((agent) =>
    agentJson(agent, asks, unled_trees.get(agent.root_id) ?? null, titles.get(agent.id) ?? null),
  );
}
