import { storable } from '../../records/text/text.ts';
import { clean } from '../../render/clean.ts';
import { ledgerOrders, type Orders } from '../../runtime/orders/ledger-orders.ts';
import type { WorkflowSteer } from '../../runtime/runtime-face.ts';
import { rulesFile, workFolder } from '../../settings/folders.ts';
import { sameLedgerFlags } from '../../settings/suggested-command.ts';
import type { Store } from '../../store/store.ts';
import { assertMayLeadHere, isServed } from '../../trees/leaders/leaders.ts';
import { saveRun } from '../../trees/workflow/save-run.ts';
import { messageRun, skipAgent, steerRun, type WorkflowOrder } from '../../trees/workflow/steer-runs.ts';
import { leadRun } from '../run/follow-run.ts';
import { composeTerms } from '../setup/compose-config.ts';
import { type Context, withStore } from '../setup/context.ts';
import { printResult } from '../setup/output.ts';
import { readText } from '../setup/standard-input.ts';
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

/** Does the work with the ledger and a person's orders to its agents. */
function ordering<T>(
  context: Context,
  work: (sources: { readonly store: Store; readonly runtime: Orders }) => Promise<T>,
): Promise<T> {
  ledgerItself(context);
  return withStore(context, (store) => work({ store, runtime: ordersOf(context, store) }));
}

function ordersOf(context: Context, store: Store): Orders {
  return ledgerOrders(store, { rules_file: rulesFile(context.env) });
}

function print(context: Context, order: WorkflowOrder, ordered: WorkflowSteer): number {
  const { name, run, led } = order;
  const when = led || ordered === 'resume' ? '' : ', as soon as a process leads it';
  const how =
    ordered === 'resume'
      ? ''
      : `; go on with: coppice workflow resume ${run.slice(0, 8)}${sameLedgerFlags(context)}`;
  return printResult(context, order, () => [`${clean(name)} ${DONE[ordered]}${when}${how}`]);
}

/** `coppice workflow pause RUN`. */
export function workflowPause(context: Context, text: string): Promise<number> {
  return ordering(context, async (sources) =>
    print(context, await steerRun(sources, text, 'pause'), 'pause'),
  );
}

/** `coppice workflow stop RUN`. */
export function workflowStop(context: Context, text: string): Promise<number> {
  return ordering(context, async (sources) => print(context, await steerRun(sources, text, 'stop'), 'stop'));
}

/** `coppice workflow skip AGENT`. */
export function workflowSkip(context: Context, text: string): Promise<number> {
  return ordering(context, async (sources) => {
    const order = await skipAgent(sources, text);
    return printResult(context, order, () => [`skipped: its call in ${clean(order.name)} gives null`]);
  });
}

/** `coppice workflow send RUN TEXT [--phase TITLE]`. */
export function workflowSend(
  context: Context,
  run: string,
  given: string | undefined,
  { phase }: { readonly phase?: string },
): Promise<number> {
  return ordering(context, async (sources) => {
    const text = storable(await readText(given, 'message'));
    const sent = await messageRun(sources, run, { text, phase });
    return printResult(context, sent, () => [
      `sent to ${sent.to.map(({ label }) => clean(label)).join(', ')}`,
    ]);
  });
}

/** `coppice workflow save RUN NAME`. */
export function workflowSave(
  context: Context,
  run: string,
  name: string,
  { overwrite = false }: { readonly overwrite?: boolean },
): Promise<number> {
  ledgerItself(context);
  return withStore(context, async (store) => {
    const folder = workFolder(context.options.cwd);
    const saved = await saveRun(store, run, { name, folder, overwrites: overwrite });
    return printResult(context, saved, () => [
      `saved as ${clean(saved.path)}; run it: coppice workflow run ${name}`,
    ]);
  });
}

/** `coppice workflow resume RUN`: lets it go on; leads it here if no process does. */
export async function workflowResume(context: Context, text: string, options: FollowFlags): Promise<number> {
  ledgerItself(context);
  const store = await context.openStore();
  let order: WorkflowOrder;
  try {
    order = await steerRun({ store, runtime: ordersOf(context, store) }, text, 'resume');
    const { led, root_id } = order;
    const placement = led ? null : await store.placement(root_id);
    if (led || (placement !== null && (await isServed(store, placement)))) {
      const code = print(context, order, 'resume');
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
