import { isoTime } from '../../documents/iso-time.ts';
import type { TreeRow } from '../../documents/shapes/agent-parts.ts';
import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { titleOf } from '../../documents/tree-titles.ts';
import { type OutcomeWord, treeOutcome } from '../../records/run/outcome.ts';
import type { ResumeReport } from '../../runtime/runtime-face.ts';
import { agentsJson, oneRoot, type ReadSources } from '../find-agent.ts';
import { olderRoots, rowsOf } from './tree-list-rows.ts';

/** Documents about trees, without request schemas, like `agent-answers.ts`. */

export const TREES_USUAL = 100;

export interface TreesQuery {
  readonly limit?: number | undefined;
  readonly before?: string | undefined;
  readonly conversations?: boolean | undefined;
  readonly cwd?: string | undefined;
  readonly cut_of?: string | undefined;
  readonly asking?: boolean | undefined;
  readonly outcome?: OutcomeWord | undefined;
}

export async function treesDocument(
  sources: ReadSources,
  { outcome, ...query }: TreesQuery,
): Promise<DocumentOf<'coppice/trees/v1'>> {
  const schema = 'coppice/trees/v1';
  if (outcome === undefined) return { schema, trees: await treesOf(sources, query) };
  const { limit = TREES_USUAL } = query;
  const trees: TreeRow[] = [];
  // No column holds an outcome: pages of trees are read until enough have it.
  for (let { before } = query; ; ) {
    const page = await treesOf(sources, { ...query, limit: TREES_USUAL, asking: false, before });
    trees.push(...page.filter((tree) => tree.outcome === outcome).slice(0, limit - trees.length));
    if (page.length < TREES_USUAL || trees.length === limit) return { schema, trees };
    before = page.slice(-1).map(({ started_at, root_id }) => `${started_at},${root_id}`)[0];
  }
}

export function resumedDocument(report: ResumeReport): DocumentOf<'coppice/resumed/v1'> {
  return {
    schema: 'coppice/resumed/v1',
    root_id: report.root.id,
    agents: report.agents.map(({ id }) => id),
    elsewhere: report.elsewhere,
    broken: report.broken.map(({ agent, reason }) => ({ agent_id: agent.id, name: agent.name, reason })),
    tried: report.tried.map(({ id, updated_at }) => ({ agent_id: id, updated_at: isoTime(updated_at) })),
  };
}

async function treesOf(
  sources: ReadSources,
  { limit = TREES_USUAL, conversations = false, asking = false, ...only }: TreesQuery,
): Promise<TreeRow[]> {
  const roots = await sources.store.agents({ ...only, conversations, roots: !conversations, limit });
  const asks = asking ? await sources.store.askMarks() : [];
  const ids = asks.map(({ root_id }) => root_id);
  const older = await olderRoots(sources.store, roots, ids);
  return rowsOf(sources, [...roots, ...older]);
}

export async function treeDocument(
  sources: ReadSources,
  text: string,
): Promise<DocumentOf<'coppice/tree/v1'>> {
  const { store } = sources;
  const root = await oneRoot(store, text);
  // Reads the counters before the agents: an agent created in between must not count as deleted.
  const tree = await store.tree(root.id);
  const [agents, asks, title] = await Promise.all([
    store.agents({ root_id: root.id }),
    store.asks({ root_id: root.id, open: true }),
    titleOf(store, root),
  ]);
  const documents = await agentsJson(sources, agents.toReversed(), asks);
  return {
    schema: 'coppice/tree/v1',
    root_id: root.id,
    title,
    cwd: root.config.cwd,
    ...treeOutcome(root.id, documents, tree?.total),
    tree: tree as DocumentOf<'coppice/tree/v1'>['tree'],
    agents: documents,
  };
}

export async function tasksDocument(
  { store }: ReadSources,
  text: string,
): Promise<DocumentOf<'coppice/tasks/v1'>> {
  const root = await oneRoot(store, text);
  const tasks = (await store.tasks(root.id)).map(({ added_at, changed_at, depends_on, ...task }) => ({
    ...task,
    depends_on: [...depends_on],
    added_at: isoTime(added_at),
    changed_at: isoTime(changed_at),
  }));
  return { schema: 'coppice/tasks/v1', root_id: root.id, tasks };
}
