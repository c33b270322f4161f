import { clean } from '../../render/clean.ts';
import { ledgerOrders } from '../../runtime/orders/ledger-orders.ts';
import type { WorkflowSteer } from '../../runtime/runtime-face.ts';
import { rulesFile } from '../../settings/folders.ts';
import { sameLedgerFlags } from '../../settings/suggested-command.ts';
import type { Store } from '../../store/store.ts';
import { assertMayLeadHere, isServed } from '../../trees/leaders/leaders.ts';
import { steerRun, type WorkflowOrder } from '../../trees/workflow-runs.ts';
import { leadRun } from '../run/follow-run.ts';
import { composeTerms } from '../setup/compose-config.ts';
import { type Context, withStore } from '../setup/context.ts';
import { printResult } from '../setup/output.ts';
import { ledgerItself } from './workflow-args.ts';

interface FollowFlags {
  readonly ask?: boolean;
  readonly events?: boolean;
  readonly timeout?: number;
  readonly wait?: boolean;
}

const DONE = {
  pause: 'pauses: what is under way comes to its end, and nothing new begins',
  stop: 'stops: what is under way is broken off',
  resume: 'goes on',
} as const;

function steer(context: Context, store: Store, text: string, how: WorkflowSteer): Promise<WorkflowOrder> {
  const runtime = ledgerOrders(store, { rules_file: rulesFile(context.env) });
  return steerRun({ store, runtime }, text, how);
}

function print(context: Context, order: WorkflowOrder): number {
  const { name, run, ordered, led } = order;
  const when = led || ordered === 'resume' ? '' : ', as soon as a process leads it';
  const how =
    ordered === 'resume'
      ? ''
      : `; go on with: coppice workflow resume ${run.slice(0, 8)}${sameLedgerFlags(context)}`;
  return printResult(context, order, () => [`${clean(name)} ${DONE[ordered]}${when}${how}`]);
}

/** `coppice workflow pause RUN`. */
export function workflowPause(context: Context, text: string): Promise<number> {
  ledgerItself(context);
  return withStore(context, async (store) => print(context, await steer(context, store, text, 'pause')));
}

/** `coppice workflow stop RUN`. */
export function workflowStop(context: Context, text: string): Promise<number> {
  ledgerItself(context);
  return withStore(context, async (store) => print(context, await steer(context, store, text, 'stop')));
}

/** `coppice workflow resume RUN`: lets it go on; leads it here if no process does. */
export async function workflowResume(context: Context, text: string, options: FollowFlags): Promise<number> {
  ledgerItself(context);
  const store = await context.openStore();
  let order: WorkflowOrder;
  try {
    order = await steer(context, store, text, 'resume');
    const { led, root_id } = order;
    const placement = led ? null : await store.placement(root_id);
    if (led || (placement !== null && (await isServed(store, placement)))) {
      const code = print(context, order);
      await store.close();
      return code;
    }
    await assertMayLeadHere(store, root_id, context.env);
  } catch (error) {
    await store.close();
    throw error;
  }
  const { root_id, name } = order;
  return leadRun(
    context,
    store,
    composeTerms(context),
    async (runtime) => (await runtime.resume(root_id)).root,
    { ...options, title: `coppice workflow resume  ·  ${clean(name)}` },
  );
}
