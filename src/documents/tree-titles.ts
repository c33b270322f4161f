import type { Agent } from '../records/agent/agent.ts';
import { clean } from '../render/clean.ts';
import { treeTitle } from '../render/tree-title.ts';
import type { Store } from '../store/store.ts';

/** Number of messages read: the task of a tree is among the first ones. */
const FIRST = 3;

/** The title of a tree: its task, or the name of its root before it has one. */
export async function titleOf(store: Store, root: Pick<Agent, 'id' | 'name'>): Promise<string> {
  return treeTitle(await store.history(root.id, 0, FIRST)) ?? clean(root.name);
}

export async function titlesOf(store: Store, roots: readonly Agent[]): Promise<ReadonlyMap<string, string>> {
  return new Map(
    await Promise.all(roots.map(async (root) => [root.id, await titleOf(store, root)] as const)),
  );
}
