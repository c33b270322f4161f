import { type Delivery, splitTarget } from '../../records/run/delivery.ts';
import { isFinished, type Run } from '../../records/run/run.ts';
import { runText } from '../../records/run/run-end.ts';
import type { DeliverResult, Parcel } from '../channel.ts';
import { askText } from './ask-text.ts';
import type { OutboxLedger } from './outbox-ledger.ts';

/** What to send; or what the try comes to without anything being sent. */
export type Composed =
  | { readonly type: 'parcel'; readonly parcel: Parcel }
  | { readonly type: 'settled'; readonly result: DeliverResult };

const SETTLED: Composed = { type: 'settled', result: { type: 'delivered' } };

/** A delivery with everything that it tells of, as the ledger has it now. Rejects when the ledger cannot be read. */
export async function composeParcel(
  delivery: Delivery,
  ledger: Pick<OutboxLedger, 'findRuns' | 'findAsks'>,
): Promise<Composed> {
  switch (delivery.kind) {
    case 'reply':
      // An agent that said nothing has nothing to say to anybody.
      return delivery.body === null || delivery.body.trim() === ''
        ? SETTLED
        : parcelOf(delivery, { text: delivery.body });
    case 'run':
      return composeRun(delivery, ledger);
    case 'ask':
      return composeAsk(delivery, ledger);
  }
}

async function composeRun(delivery: Delivery, ledger: Pick<OutboxLedger, 'findRuns'>): Promise<Composed> {
  const run = await ofId(ledger.findRuns, delivery.about, ledger);
  if (run === null)
    return settled({ type: 'failed', error: `the run ${delivery.about} is not in the ledger any more` });
  if (!isFinished(run.status))
    return settled({ type: 'retry', error: `the run ${run.id} has not ended yet`, after_ms: null });
  return parcelOf(delivery, { text: delivery.body ?? runText(run), run });
}

/** Nobody is bothered with what was answered already, or need not be answered any more. */
async function composeAsk(delivery: Delivery, ledger: Pick<OutboxLedger, 'findAsks'>): Promise<Composed> {
  const ask = await ofId(ledger.findAsks, delivery.about, ledger);
  if (ask === null || ask.verdict !== null) return SETTLED;
  return parcelOf(delivery, { text: delivery.body ?? askText(ask), ask });
}

/** The ledger finds by prefixes too. */
async function ofId<T extends { readonly id: string }>(
  find: (id: string) => Promise<readonly T[]>,
  id: string | null,
  ledger: unknown,
): Promise<T | null> {
  if (id === null) return null;
  return (await find.call(ledger, id)).find((one) => one.id === id) ?? null;
}

function settled(result: DeliverResult): Composed {
  return { type: 'settled', result };
}

function parcelOf(
  delivery: Delivery,
  told: { readonly text: string; readonly run?: Run; readonly ask?: Parcel['ask'] },
): Composed {
  const { id, kind, agent_id, root_id, created_at, attempts, progress } = delivery;
  const { address } = splitTarget(delivery.target);
  const { text, run = null, ask = null } = told;
  const parcel: Parcel = {
    id,
    kind,
    address,
    text,
    agent_id,
    root_id,
    run,
    ask,
    created_at,
    attempt: attempts,
    progress,
  };
  return { type: 'parcel', parcel };
}
