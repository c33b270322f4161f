import type { DeliveryDocument } from '../../documents/shapes/document-parts.ts';
import type { Calls } from '../../serve/client/client.ts';
import type { Store } from '../../store/store.ts';
import { unledText } from '../../trees/leaders/unled-reason.ts';
import { askLedger } from './ask-server.ts';
import type { Context } from './context.ts';

/** Notices on stderr about work that does not go on by itself, because no server runs or no process leads it. */

/** Warns that schedules do not fire while no server runs. */
export async function tellUnserved({ hint }: Pick<Context, 'hint'>, asked: Calls): Promise<void> {
  if (!(await isServed(asked)))
    process.stderr.write(hint('nothing fires it yet: start coppice serve (and keep it running)\n'));
}

/** Warns that pending deliveries are not sent while no server runs. */
export async function tellUndelivered(
  { hint }: Pick<Context, 'hint'>,
  asked: Calls,
  deliveries: readonly Pick<DeliveryDocument, 'status'>[],
): Promise<void> {
  if (deliveries.some(({ status }) => status === 'pending') && !(await isServed(asked)))
    process.stderr.write(hint('nothing delivers now: start coppice serve (and keep it running)\n'));
}

/** The same about the deliveries of a tree that this process has led. */
export async function tellUndeliveredOf(context: Context, store: Store, root_id: string): Promise<void> {
  const pending = await store.deliveries({ status: 'pending', limit: RECENT });
  const own = pending.filter((one) => one.root_id === root_id);
  await tellUndelivered(context, askLedger(context, store), own);
}

/** How many of the newest deliveries are checked for those of the tree. */
const RECENT = 100;

async function isServed(asked: Calls): Promise<boolean> {
  return (await asked.workers()).workers.some(({ role, state }) => role === 'serve' && state !== 'gone');
}

/** Warns that the tree of this agent does not go on while no process leads it. */
export async function tellUnled(asked: Calls, agent_id: string): Promise<void> {
  const { unled } = await asked.agent(agent_id);
  if (unled !== null) process.stderr.write(`${unledText(unled)}\n`);
}
