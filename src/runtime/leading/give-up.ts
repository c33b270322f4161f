import type { Store } from '../../store/store.ts';
import type { Executor } from '../executor/executor.ts';
import type { UnattendedTrees } from './unattended-trees.ts';

/** Makes a tree rows again in which nothing is to be done here, or all that is is parked; false when something is. */
export async function giveUp(
  root_id: string,
  executor: Executor,
  store: Store,
  unattended: UnattendedTrees,
): Promise<boolean> {
  const parked = executor.forget(root_id);
  if (parked === null) return false;
  await store.releaseTree(root_id, executor.worker.id, parked);
  unattended.forget(root_id);
  return true;
}
