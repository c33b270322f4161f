import { type Agent, descendantsOf } from '../../records/agent/agent.ts';
import { nameOf, type Outcome, outcomeOf, UNSUCCESSFUL } from '../../records/run/outcome.ts';
import { counted } from '../../records/text/text.ts';

import type { Store } from '../../store/store.ts';

/** Calls of a script that start an agent of the run; one that was refused counts as a failure. */
export const STARTS: ReadonlySet<string> = new Set(['agent', 'workflow', 'ask']);

/** Whether an agent of a run failed; a person who skips one has decided so. */
export function hasFailed({ outcome }: Pick<Outcome, 'outcome'>): boolean {
  return outcome !== 'stopped' && UNSUCCESSFUL.has(outcome);
}

/** Without agents that were run again: their successors stand for them. */
export function withoutRetried<Found extends Pick<Agent, 'id' | 'config'>>(
  agents: readonly Found[],
): Found[] {
  const retried = new Set(agents.map(({ config }) => config.task?.workflow?.instead_of));
  return agents.filter(({ id }) => !retried.has(id));
}

/** A workflow in which something failed is no success, even if its script returned (docs/workflows.md#outcome). Null for any other run. */
export async function workflowFailure(
  store: Pick<Store, 'agent' | 'agents' | 'history'>,
  run_id: string,
): Promise<string | null> {
  const run = await store.agent(run_id);
  if (run?.config.workflow === undefined) return null;
  const below = descendantsOf(run_id, await store.agents({ root_id: run.root_id }));
  const agents = withoutRetried(below).filter(({ id }) => id !== run_id);
  const failed = agents.filter((one) => hasFailed(outcomeOf(one))).length;
  const refused = (await store.history(run_id))
    .flatMap((message) => (message.kind === 'result' ? [message.content] : []))
    .filter(({ name, status }) => STARTS.has(name) && status !== 'ok').length;
  const { outcome } = outcomeOf(run);
  const finished = agents.filter((one) => outcomeOf(one).outcome === 'done').length;
  const kept = UNSUCCESSFUL.has(outcome) && finished > 0;
  if (failed + refused === 0 && !kept) return null;
  const faults = [
    ...(failed === 0 ? [] : [`${failed} of its ${agents.length} agents failed`]),
    ...(refused === 0 ? [] : [counted(refused, 'call was refused', 'calls were refused')]),
  ];
  const but = UNSUCCESSFUL.has(outcome) ? ';' : ', but';
  if (!kept) return `the workflow is ${nameOf(outcome)}${but} ${faults.join(', and ')}`;
  const results = `${finished} of its agents finished: coppice workflow show ${run_id.slice(0, 8)}`;
  return `the workflow is ${nameOf(outcome)}; ${[...faults, results].join(', and ')}`;
}
