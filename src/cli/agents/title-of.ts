import type { Agent } from '../../records/agent/agent.ts';
import { clean } from '../../render/clean.ts';
import { treeTitle } from '../../render/tree-title.ts';
import type { Store } from '../../store/store.ts';

/** A task stands among the first messages. */
const FIRST = 3;

/** The title of a tree: its task, or the name of its root while it has none. */
export async function titleOf(store: Store, root: Pick<Agent, 'id' | 'name'>): Promise<string> {
  return treeTitle(await store.history(root.id, 0, FIRST)) ?? clean(root.name);
}

/** The same of several, by their ids. */
export async function titlesOf(store: Store, roots: readonly Agent[]): Promise<ReadonlyMap<string, string>> {
  return new Map(
    await Promise.all(roots.map(async (root) => [root.id, await titleOf(store, root)] as const)),
  );
}

/** A tree as people know it: short id and title. */
export async function nameOfTree(store: Store, root: Pick<Agent, 'id' | 'name'>): Promise<string> {
  return `${root.id.slice(0, 8)} (${await titleOf(store, root)})`;
}
