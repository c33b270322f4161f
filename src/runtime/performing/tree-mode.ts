import { modeOf } from '../../permissions/mode.ts';
import type { Agent, PermissionMode } from '../../records/agent/agent.ts';
import type { Store } from '../../store/store.ts';

/** The mode of the agent's tree, as the ledger has it now: any process may have switched it. */
export async function treeMode(
  { root_id }: Pick<Agent, 'root_id'>,
  store: Pick<Store, 'agent'>,
): Promise<PermissionMode> {
  const root = await store.agent(root_id);
  return root === null ? 'ask' : modeOf(root.config);
}
