import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { AgentDocument } from '../../documents/shapes/agent-parts.ts';
import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { isTerminal } from '../../records/agent/state.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { clean } from '../../render/clean.ts';
import { nearestName } from '../../render/nearest-name.ts';
import type { Calls } from '../../serve/client/client.ts';
import { workFolder } from '../../settings/folders.ts';
import { oneOf } from '../../trees/find-agent.ts';
import type { Context } from '../setup/context.ts';

export function hasEnded({ state }: Pick<AgentDocument, 'state'>): boolean {
  return isTerminal(state);
}

/**
 * Returns the one agent that a UUID, a unique prefix, a name or a session key refers to. Of several agents with one name, takes the one in the newest
 * tree of this folder; of those, the only living one. Names its tree on stderr then. Rejects with the candidates, or with the nearest name; `nor`: what else
 * was looked for in vain.
 */
export async function findAgent(
  context: Context,
  asked: Calls,
  text: string,
  nor = '',
): Promise<AgentDocument> {
  const { agents: found } = await asked.agents({ called: text });
  const near = found.length > 1 ? await nearest(context, asked, text) : [];
  const agent = await oneOf(text, near.length > 0 ? near : found, {
    hasEnded,
    none: () => notFound(asked, text, nor),
    describe: (one) => describeCandidate(asked, one),
  });
  if (found.length > 1)
    process.stderr.write(`${clean(agent.name)} of the tree ${await nameOfTree(asked, agent)}\n`);
  return agent;
}

/** Agents of that name in the newest tree of this folder. */
async function nearest(context: Context, asked: Calls, name: string): Promise<AgentDocument[]> {
  const tree = await newestTree(asked, workFolder(context.options.cwd));
  if (tree === null) return [];
  return (await asked.agents({ called: name, tree: tree.root_id })).agents.filter(
    (agent) => agent.name === name,
  );
}

type TreeRow = DocumentOf<'coppice/trees/v1'>['trees'][number];

/** Returns the newest conversation of the folder, or of all folders; null if there is none. */
async function newestTree(asked: Calls, cwd?: string): Promise<TreeRow | null> {
  return (await asked.trees({ conversations: true, cwd, limit: 1 })).trees[0] ?? null;
}

/**
 * Returns the id of the root of the tree of the agent that `text` refers to; without `text`, of the newest tree of this folder. In a folder without
 * trees, takes the newest tree of the nearest folder above in its git repository, else the newest of all, with a note on stderr. With `only_here`
 * (for commands that continue the tree), the newest of all is an error instead.
 */
export async function findRoot(
  context: Context,
  asked: Calls,
  text: string | undefined,
  { only_here = false }: { readonly only_here?: boolean } = {},
): Promise<string> {
  if (text !== undefined) return (await findAgent(context, asked, text)).root_id;
  const folder = workFolder(context.options.cwd);
  const here = await newestTree(asked, folder);
  if (here !== null) return here.root_id;
  for (const above of foldersAbove(folder)) {
    const tree = await newestTree(asked, above);
    if (tree === null) continue;
    process.stderr.write(`no tree works in this folder; the newest above: ${nameOfRow(tree)}\n`);
    return tree.root_id;
  }
  const newest = await newestTree(asked);
  if (newest === null)
    throw new CoppiceError('E_AGENT_NOT_FOUND', 'there is no agent yet', {
      hint: 'Start one: coppice run "…"',
    });
  const where = nameOfRow(newest);
  if (only_here)
    throw new CoppiceError('E_AGENT_NOT_FOUND', 'no tree works in this folder', {
      hint: `The newest of another folder: ${where}. Name it, if you mean it. See: coppice ps --all`,
    });
  process.stderr.write(`no tree works in this folder; the newest of all: ${where}\n`);
  return newest.root_id;
}

/** Returns the folders above, nearest first, up to the root of the git repository; none outside of a repository. */
function foldersAbove(folder: string): readonly string[] {
  const above: string[] = [];
  for (let at = folder; !existsSync(join(at, '.git')); at = dirname(at)) {
    if (at === dirname(at)) return [];
    above.push(dirname(at));
  }
  return above;
}

function nameOfRow({ root_id, title, cwd }: TreeRow): string {
  return `${root_id.slice(0, 8)} (${title}) in ${clean(cwd)}`;
}

/** Returns the id of the agent that `text` refers to, or of the root of the tree that `findRoot` finds. */
export async function findAgentOrRoot(
  context: Context,
  asked: Calls,
  text: string | undefined,
): Promise<string> {
  return text === undefined ? findRoot(context, asked, text) : (await findAgent(context, asked, text)).id;
}

async function notFound(asked: Calls, text: string, nor: string): Promise<CoppiceError> {
  const { agents } = await asked.agents({ all: true });
  const recent = agents.toReversed();
  const name = nearestName(
    text,
    recent.map((agent) => agent.name),
  );
  const nearest = recent.find((agent) => agent.name === name);
  const hint = `${nearest !== undefined ? `Did you mean ${await describeCandidate(asked, nearest)}?\n` : ''}See: coppice ps --all`;
  return new CoppiceError('E_AGENT_NOT_FOUND', `no agent called "${text}"${nor}`, { hint });
}

async function describeCandidate(asked: Calls, agent: AgentDocument): Promise<string> {
  return `${clean(agent.name)} (${agent.id.slice(0, 8)}, ${agent.status}), tree ${await nameOfTree(asked, agent)}`;
}

async function nameOfTree(asked: Calls, { id, root_id }: AgentDocument): Promise<string> {
  return `${root_id.slice(0, 8)} (${(await asked.agent(id)).tree_title})`;
}
