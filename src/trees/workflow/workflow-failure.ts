import { outcomeOf, UNSUCCESSFUL } from '../../records/run/outcome.ts';
import type { Store } from '../../store/store.ts';

const STARTS: ReadonlySet<string> = new Set(['agent', 'workflow', 'ask']);

/** A workflow in which something failed is no success, even if its script returned (docs/workflows.md#outcome). Null for any other run. */
export async function workflowFailure(store: Store, root_id: string): Promise<string | null> {
  const run = await store.agent(root_id);
  if (run?.config.workflow === undefined) return null;
  const agents = (await store.agents({ root_id })).filter(({ id }) => id !== root_id);
  // A person who skips an agent has decided so.
  const failed = agents.filter((one) => {
    const { outcome } = outcomeOf(one);
    return outcome !== 'stopped' && UNSUCCESSFUL.has(outcome);
  }).length;
  const refused = (await store.history(root_id))
    .flatMap((message) => (message.kind === 'result' ? [message.content] : []))
    .filter(({ name, status }) => STARTS.has(name) && status !== 'ok').length;
  if (failed + refused === 0) return null;
  const calls = refused === 0 ? '' : `${failed === 0 ? '' : ', and '}${refused} calls were refused`;
  return `the workflow is done, but ${failed === 0 ? '' : `${failed} of its ${agents.length} agents failed`}${calls}`;
}
