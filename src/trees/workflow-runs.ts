import { type Agent, isActive } from '../records/agent/agent.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import { outcomeOf } from '../records/run/outcome.ts';
import { clean } from '../render/clean.ts';
import type { Orders } from '../runtime/orders/ledger-orders.ts';
import type { WorkflowSteer } from '../runtime/runtime-face.ts';
import type { Store } from '../store/store.ts';
import { isLed } from './answers/people-answers.ts';
import { oneOf } from './find-agent.ts';

/** What people do with workflow runs, for all doors (docs/workflows.md#pause-stop-and-resume). */

interface Ordering {
  readonly store: Store;
  readonly runtime: Orders;
}

/** `coppice/workflow-order/v1`. `led`: a process leads the run, and follows at once; otherwise its next leader does. */
export interface WorkflowOrder {
  readonly schema: 'coppice/workflow-order/v1';
  readonly run: string;
  readonly root_id: string;
  readonly name: string;
  readonly ordered: WorkflowSteer;
  readonly led: boolean;
}

/** Finds a workflow run by uuid, unique prefix or name: of several, the only one at work. Rejects as `oneAgent` does, and with `E_INVALID_ARGUMENT` for an agent that is none. */
export async function oneWorkflowRun(store: Pick<Store, 'find'>, text: string): Promise<Agent> {
  const found = await store.find(text);
  const runs = found.filter(
    ({ config }) => config.workflow !== undefined && config.workflow.ask === undefined,
  );
  if (runs.length === 0 && found.length > 0)
    throw new CoppiceError('E_INVALID_ARGUMENT', `${text} is not a workflow run`, { hint: LIST });
  return oneOf(text, runs, {
    hasEnded: (run) => !isActive(run),
    none: async () =>
      new CoppiceError('E_AGENT_NOT_FOUND', `no workflow run called "${text}"`, { hint: LIST }),
    describe: async ({ id, name }) => `${clean(name)} (${id})`,
  });
}

const LIST = 'Runs are agents: coppice ps --all lists them';

/** Pauses or stops a run, or lets it go on, whichever process leads it. Rejects with `E_AGENT_DEAD` if it has ended. */
export async function steerRun(
  { store, runtime }: Ordering,
  text: string,
  ordered: WorkflowSteer,
): Promise<WorkflowOrder> {
  const run = await oneWorkflowRun(store, text);
  const { id, root_id, name } = run;
  if (!isActive(run))
    throw new CoppiceError(
      'E_AGENT_DEAD',
      `the workflow run ${clean(name)} has ended: ${outcomeOf(run).outcome_text}`,
    );
  await runtime.steerWorkflow(id, ordered);
  return {
    schema: 'coppice/workflow-order/v1',
    run: id,
    root_id,
    name,
    ordered,
    led: await isLed(store, run),
  };
}
