import { isoTime } from '../../documents/iso-time.ts';
import { pauseOf } from '../../records/conversation/parked.ts';
import { storable } from '../../records/text/text.ts';
import { clean } from '../../render/clean.ts';
import { ledgerOrders } from '../../runtime/orders/ledger-orders.ts';
import type { WorkflowSteer } from '../../runtime/runtime-face.ts';
import type { Calls } from '../../serve/client/client.ts';
import { rulesFile } from '../../settings/folders.ts';
import { assertMayLeadHere, isServed } from '../../trees/leaders/leaders.ts';
import { steerRun, type WorkflowOrder } from '../../trees/workflow/steer-runs.ts';
import { type FollowFlags, leadRun } from '../run/follow-run.ts';
import { ask } from '../setup/ask-server.ts';
import type { Context } from '../setup/context.ts';
import { printResult } from '../setup/output.ts';
import { readText } from '../setup/standard-input.ts';

const DONE = {
  pause: 'pauses: what is under way comes to its end, and nothing new begins',
  stop: 'stops: what is under way is broken off',
  resume: 'goes on',
} as const;

function print(context: Context, order: WorkflowOrder, ordered: WorkflowSteer, asks = false): number {
  const { name, run, led } = order;
  const when = led || ordered === 'resume' ? '' : ', as soon as a process leads it';
  const how =
    ordered === 'resume'
      ? ''
      : context.hint(`; go on with: coppice workflow resume ${run.slice(0, 8)}${asks ? ' --ask' : ''}`);
  return printResult(context, order, () => [`${clean(name)} ${DONE[ordered]}${when}${how}`]);
}

/** Says how to go on: where people are asked, without `--ask` the answers would be denials. */
async function steer(
  context: Context,
  asked: Calls,
  text: string,
  ordered: 'pause' | 'stop',
): Promise<number> {
  const order = await (ordered === 'pause' ? asked.pauseWorkflow(text) : asked.stopWorkflow(text));
  const { agents } = await asked.tree(order.root_id);
  return print(
    context,
    order,
    ordered,
    agents.some(({ open_approvals }) => open_approvals > 0),
  );
}

/** `coppice workflow pause RUN`. */
export function workflowPause(context: Context, text: string): Promise<number> {
  return ask(context, (asked) => steer(context, asked, text, 'pause'));
}

/** `coppice workflow stop RUN`. */
export function workflowStop(context: Context, text: string): Promise<number> {
  return ask(context, (asked) => steer(context, asked, text, 'stop'));
}

/** `coppice workflow skip AGENT`. */
export async function workflowSkip(context: Context, text: string): Promise<number> {
  const order = await ask(context, (asked) => asked.skipAgent(text));
  return printResult(context, order, () => [`skipped: its call in ${clean(order.name)} gives null`]);
}

/** `coppice workflow retry AGENT`. */
export async function workflowRetry(context: Context, text: string): Promise<number> {
  const order = await ask(context, (asked) => asked.retryWorkflowAgent(text));
  const when = order.led ? '' : ', as soon as a process leads it';
  return printResult(context, order, () => [`run again: ${clean(order.name)} gets its new result${when}`]);
}

/** `coppice workflow send RUN TEXT [--phase TITLE]`. */
export async function workflowSend(
  context: Context,
  run: string,
  given: string | undefined,
  { phase }: { readonly phase?: string },
): Promise<number> {
  const text = storable(await readText(given, 'message'));
  const sent = await ask(context, (asked) => asked.sendToWorkflow(run, { text, phase }));
  return printResult(context, sent, () => [`sent to ${sent.to.map(({ label }) => clean(label)).join(', ')}`]);
}

/** `coppice workflow save RUN NAME`; with a server, in its folder. */
export async function workflowSave(
  context: Context,
  run: string,
  name: string,
  { overwrite = false }: { readonly overwrite?: boolean },
): Promise<number> {
  const saved = await ask(context, (asked) => asked.saveWorkflow(run, { name, overwrite }));
  return printResult(context, saved, () => [
    `saved as ${clean(saved.path)}; ${context.hint(`run it: coppice workflow run ${name}`)}`,
  ]);
}

/** `coppice workflow resume RUN`: lets it go on; leads it here if no process does. */
export async function workflowResume(context: Context, text: string, options: FollowFlags): Promise<number> {
  if (context.server !== null)
    return ask(context, async (asked) => print(context, await asked.resumeWorkflow(text), 'resume'));
  return leadRun(context, async (store) => {
    const orders = ledgerOrders(store, { rules_file: rulesFile(context.env) });
    const order = await steerRun({ store, runtime: orders }, text, 'resume');
    const { led, root_id, name, run } = order;
    const placement = led ? null : await store.placement(root_id);
    if (led || (placement !== null && (await isServed(store, placement))))
      return print(context, order, 'resume');
    await assertMayLeadHere(store, root_id, context.env);
    const held = (await store.agents({ root_id })).filter(
      ({ state }) => pauseOf(state)?.door === `run ${run}`,
    );
    let tried = new Map<string, string>();
    return {
      ...options,
      tried: () => tried,
      begin: async (runtime) => {
        const report = await runtime.resume(root_id);
        tried = new Map([...report.tried, ...held].map(({ id, updated_at }) => [id, isoTime(updated_at)]));
        for (const { agent } of report.broken) tried.delete(agent.id);
        return report.root;
      },
      title: `coppice workflow resume  ·  ${clean(name)}`,
    };
  });
}
