import type { Ask } from '../../records/conversation/ask.ts';
import { type Delivery, splitTarget } from '../../records/run/delivery.ts';
import { isFinished } from '../../records/run/run.ts';
import { runText } from '../../records/run/run-end.ts';
import { type AskPart, askParts } from '../../render/ask-parts.ts';
import { clean, fenced } from '../../render/clean.ts';
import { cutMiddle, SPELLED_NOTE } from '../../render/hidden-characters.ts';
import type { DeliverResult, Parcel } from '../channel.ts';
import type { DeliveryLedger } from './outage-retry.ts';

/** Maximum characters of an argument, whose middle is left out beyond that; twice as many once hidden characters are spelled out. */
const ARGUMENT_MAX = 3_000;

/** The parcel to send, or the outcome of the try if nothing is to be sent. */
export type Composed =
  | { readonly type: 'parcel'; readonly parcel: Parcel }
  | { readonly type: 'settled'; readonly result: DeliverResult };

const SETTLED: Composed = { type: 'settled', result: { type: 'delivered' } };

/** Composes the parcel of a delivery, with the current state of the run or question that it reports. Rejects when the ledger cannot be read. */
export async function composeParcel(
  delivery: Delivery,
  ledger: Pick<DeliveryLedger, 'findRuns' | 'findAsks'>,
): Promise<Composed> {
  switch (delivery.kind) {
    case 'reply':
    case 'notice':
    case 'alert':
      return delivery.body === null || delivery.body.trim() === ''
        ? SETTLED
        : parcelOf(delivery, { text: delivery.body });
    case 'run':
      return composeRun(delivery, ledger);
    case 'ask':
      return composeAsk(delivery, ledger);
  }
}

async function composeRun(delivery: Delivery, ledger: Pick<DeliveryLedger, 'findRuns'>): Promise<Composed> {
  const run = await ofId(ledger.findRuns, delivery.about, ledger);
  if (run === null)
    return settled({ type: 'failed', error: `the run ${delivery.about} is not in the ledger any more` });
  if (!isFinished(run.status))
    return settled({ type: 'retry', error: `the run ${run.id} has not ended yet`, after_ms: null });
  return parcelOf(delivery, { text: delivery.body ?? runText(run), run });
}

/** Nothing is sent for a question that was answered or withdrawn. */
async function composeAsk(delivery: Delivery, ledger: Pick<DeliveryLedger, 'findAsks'>): Promise<Composed> {
  const ask = await ofId(ledger.findAsks, delivery.about, ledger);
  if (ask === null || ask.verdict !== null) return SETTLED;
  return parcelOf(delivery, { text: delivery.body ?? askText(ask), ask });
}

/** Matches the id exactly: the find methods of the ledger match prefixes too. */
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
  { id, kind, target, agent_id, root_id, created_at, attempts: attempt, progress, ...rest }: Delivery,
  told: Pick<Parcel, 'text'> & Partial<Pick<Parcel, 'run' | 'ask'>>,
): Composed {
  const { outcome, outcome_text } = rest;
  const delivery = { id, kind, agent_id, root_id, created_at, attempt, progress, outcome, outcome_text };
  const { address } = splitTarget(target);
  return { type: 'parcel', parcel: { ...delivery, address, run: null, ask: null, ...told } };
}

/** Request for the approval of a call, in Markdown: agent, tool, arguments, and how to answer. */
export function askText(ask: Ask): string {
  const parts = askParts(ask, ARGUMENT_MAX);
  const whole = `(whole: \`coppice approvals show ${ask.id}\`)`;
  return [
    `**${clean(ask.agent_name)}** wants **${clean(ask.tool)}** and waits for you:`,
    ...parts.flatMap((part) => partText(part, whole)),
    ...(parts.some(({ spelled }) => spelled) ? [`(${SPELLED_NOTE})`] : []),
    `in ${clean(ask.cwd)} · rule: ${clean(ask.rule)}`,
    `Answer: \`coppice approvals allow ${ask.id}${ask.subject_kind === 'question' ? ' --value NAME=VALUE' : ''}\` or \`coppice approvals deny ${ask.id}\``,
  ].join('\n\n');
}

function partText({ name, is_subject, text, left_out, language }: AskPart, whole: string): string[] {
  const block = fenced(cutMiddle(text, 2 * ARGUMENT_MAX, left_out), language === 'diff' ? language : '');
  const is_cut = left_out > 0 || text.length > 2 * ARGUMENT_MAX;
  return [...(is_subject || name === '' ? [] : [`${name}:`]), block, ...(is_cut ? [whole] : [])];
}
