import { isoTime } from '../../documents/iso-time.ts';
import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { titleOf } from '../../documents/tree-titles.ts';
import { agentsJson, oneRoot, type ReadSources } from './find-one.ts';
import { olderRoots, rowsOf } from './tree-list-rows.ts';

/** Documents about trees, without request schemas, like `agent-answers.ts`. */

export const TREES_USUAL = 100;

export interface TreesQuery {
  readonly limit?: number | undefined;
  readonly before?: string | undefined;
  readonly conversations?: boolean | undefined;
  readonly cwd?: string | undefined;
  readonly asking?: boolean | undefined;
}

export async function treesDocument(
  sources: ReadSources,
  { limit = TREES_USUAL, before, conversations = false, cwd, asking = false }: TreesQuery,
): Promise<DocumentOf<'coppice/trees/v1'>> {
  const roots = await sources.store.agents({
    ...(conversations ? { conversations } : { roots: true }),
    ...(cwd === undefined ? {} : { cwd }),
    before,
    limit,
  });
  const asks = asking ? await sources.store.asks({ open: true }) : [];
  const ids = asks.map(({ root_id }) => root_id);
  const older = await olderRoots(sources.store, roots, ids);
  return { schema: 'coppice/trees/v1', trees: await rowsOf(sources, [...roots, ...older]) };
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
  return {
    schema: 'coppice/tree/v1',
    root_id: root.id,
    title,
    tree: tree as DocumentOf<'coppice/tree/v1'>['tree'],
    agents: await agentsJson(sources, agents.toReversed(), asks),
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
