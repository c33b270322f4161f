import { modeOf } from '../../permissions/mode.ts';
import type { Agent, PermissionMode } from '../../records/agent/agent.ts';
import type { Store } from '../../store/store.ts';
import type { Executor } from '../executor/executor.ts';
import type { ExecutorOptions } from '../executor/executor-options.ts';
import { retryUntilReachable } from '../executor/ledger-retry.ts';

interface ModeContext {
  readonly executor: Pick<Executor, 'cells'>;
  readonly store: Pick<Store, 'agent'>;
}

/** The permission mode of the agent's tree: from its root if this process leads it, otherwise read from the ledger. */
export async function treeMode(
  { root_id }: Pick<Agent, 'root_id'>,
  { executor, store }: ModeContext,
): Promise<PermissionMode> {
  const cell = executor.cells.get(root_id);
  const root = cell?.gone === false ? cell.agent : await store.agent(root_id);
  return root === null ? 'ask' : modeOf(root.config);
}

/** As `treeMode`, but waits until the ledger can be reached; resolves to any mode if `signal` aborts meanwhile. */
export async function awaitTreeMode(
  agent: Pick<Agent, 'root_id'>,
  context: ModeContext & Pick<ExecutorOptions, 'emit' | 'clock'>,
  signal: AbortSignal,
): Promise<PermissionMode> {
  const read = () => treeMode(agent, context);
  const found = await retryUntilReachable(context, read, () => signal.aborted);
  return found?.answer ?? 'ask';
}
