import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { type Agent, descendantsOf, isActive } from '../../records/agent/agent.ts';
import { isTerminal } from '../../records/agent/state.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { outcomeOf } from '../../records/run/outcome.ts';
import { retryLetter } from '../../records/workflow/workflow-terms.ts';
import { clean } from '../../render/clean.ts';
import type { Orders } from '../../runtime/orders/ledger-orders.ts';
import type { WorkflowSteer } from '../../runtime/runtime-face.ts';
import { shellWord } from '../../settings/suggested-command.ts';
import type { Store } from '../../store/store.ts';
import { isLed } from '../answers/people-answers.ts';
import { oneOf } from '../find-agent.ts';
import { withoutRetried } from './workflow-failure.ts';

/** What people do with workflow runs, for all doors (docs/workflows.md#pause-stop-and-steer). */

interface Ordering {
  readonly store: Store;
  readonly runtime: Orders;
}

/** `led`: a process leads the run, and follows at once; otherwise its next leader does. */
export type WorkflowOrder = DocumentOf<'coppice/workflow-order/v1'>;

/** Whether the agent is a script's, and not one that asks a question for a script. */
export function isWorkflowRun({ config }: Agent): boolean {
  return config.workflow !== undefined && config.workflow.ask === undefined;
}

/**
 * Finds a workflow run by uuid, unique prefix or name: of several, the only one at work; if none is, the newest of that name. Rejects as `oneAgent` does, and
 * with `E_INVALID_ARGUMENT` for an agent that is none.
 */
export async function oneWorkflowRun(store: Pick<Store, 'find'>, text: string): Promise<Agent> {
  const found = await store.find(text);
  const runs = found.filter(isWorkflowRun);
  if (runs.length === 0 && found.length > 0)
    throw new CoppiceError('E_INVALID_ARGUMENT', `${text} is not a workflow run`, { hint: LIST });
  const ended = runs.every((run) => !isActive(run) && run.name === text);
  const newest = ended ? runs.toSorted((a, b) => b.created_at - a.created_at).slice(0, 1) : runs;
  return oneOf(text, newest, {
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
  const { id, name } = run;
  if (!isActive(run))
    throw new CoppiceError(
      'E_AGENT_DEAD',
      `the workflow run ${clean(name)} has ended: ${outcomeOf(run).outcome_text}`,
    );
  await runtime.steerWorkflow(id, ordered);
  return orderOf(store, run, ordered, null);
}

/** Ends one agent of a run: its call gives `null`, and it counts as skipped, not as failed. Rejects with `E_AGENT_DEAD` if it has ended. */
export async function skipAgent({ store, runtime }: Ordering, text: string): Promise<WorkflowOrder> {
  const { id, name, run } = await agentOfRun(store, text);
  if ((await runtime.kill(id)).length === 0)
    throw new CoppiceError('E_AGENT_DEAD', `${clean(name)} has ended already; its script has its result`);
  return orderOf(store, run, 'skip', id);
}

/**
 * Runs one agent of a run again: its call gets the new result. One at work is broken off and goes on as another. Rejects with `E_REFUSED` where there is nothing
 * to wait for: the script was told that it failed, and has gone on.
 */
export async function retryAgent({ store, runtime }: Ordering, text: string): Promise<WorkflowOrder> {
  const { id, was, name, state, config, run } = await agentOfRun(store, text);
  const refused = (why: string, anew = 'makes its calls that failed anew', fresh = '') =>
    new CoppiceError('E_REFUSED', `${clean(name)} is not run again: ${why}`, {
      hint: `Once the run has ended, this ${anew}: coppice workflow rerun ${run.id}${fresh}`,
    });
  if (config.workflow !== undefined) throw refused('it is no agent, but a part of the script');
  if (state.type === 'completed')
    throw refused('it has finished', 'makes its call anew', ` --fresh ${shellWord(clean(name))}`);
  const told = async () => (await store.mail(run.id)).every(({ from_id }) => from_id !== id);
  if (!isActive(run) || (isTerminal(state.type) && (await told())))
    throw refused('the script has gone on without it');
  // In a tree that was cut, the script knows it by its first id.
  await runtime.send(run.id, retryLetter(was?.at(-1) ?? id));
  return orderOf(store, run, 'retry', id);
}

/** Finds an agent that a script has started, by uuid, unique prefix or name (its label), and its run. */
async function agentOfRun(store: Store, text: string): Promise<Agent & { readonly run: Agent }> {
  const found = await store.find(text);
  const agent = await oneOf(
    text,
    withoutRetried(found.filter(({ config }) => config.task?.workflow !== undefined)),
    {
      none: async () =>
        new CoppiceError('E_AGENT_NOT_FOUND', `no agent of a workflow called "${text}"`, {
          hint: 'coppice workflow show RUN lists them',
        }),
      describe: async ({ id, name }) => `${clean(name)} (${id})`,
    },
  );
  const run = await store.agent(agent.parent_id ?? agent.root_id);
  if (run === null) throw new CoppiceError('E_AGENT_NOT_FOUND', `the run of ${clean(agent.name)} is gone`);
  return { ...agent, run };
}

async function orderOf(
  store: Store,
  run: Agent,
  ordered: WorkflowOrder['ordered'],
  agent: string | null,
): Promise<WorkflowOrder> {
  const { id, root_id, name } = run;
  return {
    schema: 'coppice/workflow-order/v1',
    run: id,
    root_id,
    name,
    ordered,
    agent,
    led: await isLed(store, run),
  };
}

/** Sends a message to all agents of a run that have not ended, or those of one phase: also to those of workflows within it. Rejects with `E_AGENT_NOT_FOUND` if there are none. */
export async function messageRun(
  { store, runtime }: Ordering,
  text: string,
  { text: body, phase }: { readonly text: string; readonly phase?: string | undefined },
): Promise<DocumentOf<'coppice/workflow-mail/v1'>> {
  const run = await oneWorkflowRun(store, text);
  const all = await store.agents({ root_id: run.root_id, living: true });
  const agents = descendantsOf(run.id, all).filter(
    ({ config: { task, workflow } }) =>
      workflow === undefined &&
      task?.workflow !== undefined &&
      (phase === undefined || task.workflow.phase === phase),
  );
  const to: { id: string; label: string }[] = [];
  // One that has just ended reads no more mail.
  for (const { id, name } of agents)
    if (await runtime.send(id, body).then(() => true, isGone)) to.push({ id, label: name });
  if (to.length === 0)
    throw new CoppiceError(
      'E_AGENT_NOT_FOUND',
      `no agent of ${clean(run.name)}${phase === undefined ? '' : ` in the phase "${clean(phase)}"`} is at work`,
      { hint: 'coppice workflow show RUN lists them' },
    );
  return { schema: 'coppice/workflow-mail/v1', run: run.id, to };
}

function isGone(error: unknown): false {
  if (error instanceof CoppiceError && error.code === 'E_AGENT_DEAD') return false;
  throw error;
}
