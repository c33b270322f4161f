import { approvalsJson, askJson } from '../../documents/approval-json.ts';
import { isoTime } from '../../documents/iso-time.ts';
import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import type { DeliveryDocument } from '../../documents/shapes/document-parts.ts';
import { workersJson } from '../../documents/worker-json.ts';
import type { Agent } from '../../records/agent/agent.ts';
import { isTerminal } from '../../records/agent/state.ts';
import type { Ask, AskAnswer, AskScope } from '../../records/conversation/ask.ts';
import type { ComposedText } from '../../records/conversation/attached-text.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import type { Delivery, DeliveryStatus } from '../../records/run/delivery.ts';
import { storable } from '../../records/text/text.ts';
import type { Orders } from '../../runtime/orders/ledger-orders.ts';
import { livingWorkers } from '../../store/process-gone.ts';
import type { Store } from '../../store/store.ts';
import { oneAgent, oneRoot } from '../find-agent.ts';
import { runsDocument } from '../leaders/leaders.ts';

/** Documents about approvals, runs, deliveries and workers, and people's orders; without request schemas, like `agent-answers.ts`. */

interface Sources {
  readonly store: Store;
}
type Ordering = Sources & { readonly runtime: Orders };

export const ROWS_USUAL = 100;

/** `findAsk`, imported on first use: most commands need none. */
async function oneAsk(store: Store, text: string): Promise<Ask> {
  return (await import('../../store/approvals/find-ask.ts')).findAsk(store, text);
}

type RowsQuery = { readonly limit?: number | undefined; readonly before?: string | undefined };

export interface ApprovalFilter {
  readonly id?: string | undefined;
  readonly tree?: string | undefined;
  readonly all?: boolean | undefined;
  readonly after?: string | undefined;
  readonly limit?: number | undefined;
}

export const APPROVALS_USUAL = 200;

export async function approvalsDocument(
  { store }: Sources,
  { id, tree, all = false, after, limit = APPROVALS_USUAL }: ApprovalFilter,
): Promise<DocumentOf<'coppice/approvals/v1'>> {
  const root_id = tree === undefined ? undefined : (await oneRoot(store, tree)).id;
  const filter = { root_id, open: root_id === undefined || !all, after, limit: limit + 1 };
  const found = id === undefined ? await store.asks(filter) : [await oneAsk(store, id)];
  const asks = found.slice(0, limit);
  return {
    schema: 'coppice/approvals/v1',
    approvals: await approvalsJson(store, asks),
    open: await store.openAsks(root_id),
    next: found.length > limit ? (asks.at(-1)?.id ?? null) : null,
  };
}

type Given = Pick<AskAnswer, 'verdict' | 'shown' | 'rule' | 'values' | 'dismissed'> & {
  readonly scope?: AskScope | undefined;
  readonly note?: string | undefined;
};

/** `text`: the id as a person saw it, which stands for what was shown unless `given.shown` does. */
export async function answerDocument(
  { store, runtime }: Ordering,
  text: string,
  { scope = 'once', shown = text.toLowerCase(), note = '', ...given }: Given,
): Promise<DocumentOf<'coppice/approval/v1'>> {
  const ask = await oneAsk(store, text);
  const rule = given.rule === undefined ? undefined : storable(given.rule);
  await runtime.answer(ask.id, { ...given, scope, shown, rule, note: storable(note) });
  const [answered = ask] = await store.findAsks(ask.id);
  return { schema: 'coppice/approval/v1', ...askJson(answered) };
}

export async function runsAnswer(
  { store }: Sources,
  { active, limit = ROWS_USUAL, before }: RowsQuery & { active?: boolean | undefined },
  job_id?: string,
): Promise<DocumentOf<'coppice/subagent-runs/v1'>> {
  const runs = await store.runs({ active, job_id, before, limit });
  return { schema: 'coppice/subagent-runs/v1', ...(await runsDocument(store, runs)) };
}

export async function deliveriesDocument(
  { store }: Sources,
  { status, limit = ROWS_USUAL, before }: RowsQuery & { status?: DeliveryStatus | undefined },
): Promise<DocumentOf<'coppice/deliveries/v1'>> {
  const found = await store.deliveries({ status, before, limit });
  return { schema: 'coppice/deliveries/v1', deliveries: found.map(deliveryJson) };
}

export async function workersDocument({ store }: Sources): Promise<DocumentOf<'coppice/workers/v1'>> {
  return { schema: 'coppice/workers/v1', workers: await workersJson(store) };
}

export async function sentDocument(
  { store, runtime }: Ordering,
  name: string,
  { text, attached }: Pick<ComposedText, 'text' | 'attached'>,
  id?: string,
): Promise<DocumentOf<'coppice/mail/v1'>> {
  const agent = await livingAgent(store, name);
  const mail = await runtime.send(agent.id, text, { ...(id && { id }), ...(attached && { attached }) });
  if (mail.body !== storable(text) || mail.to_id !== agent.id) throw usedKey();
  const running = await isLed(store, agent);
  return { schema: 'coppice/mail/v1', id: mail.id, to: agent.id, number: mail.number, running };
}

export async function killedDocument(
  { store, runtime }: Ordering,
  name: string,
): Promise<DocumentOf<'coppice/kill/v1'>> {
  const agent = await oneAgent(store, name);
  return { schema: 'coppice/kill/v1', killed: [...(await runtime.kill(agent.id))] };
}

/** Finds an agent that still reads mail. Rejects with `E_AGENT_DEAD` if it has ended. */
export async function livingAgent(store: Store, name: string): Promise<Agent> {
  const agent = await oneAgent(store, name);
  if (!isTerminal(agent.state.type)) return agent;
  throw new CoppiceError('E_AGENT_DEAD', `${agent.name} has ended and cannot receive mail`, {
    hint: 'See living agents: coppice ps',
  });
}

export async function isLed(store: Store, agent: Agent): Promise<boolean> {
  return (await livingWorkers(store)).some(({ id }) => id === agent.worker);
}

export function usedKey(): CoppiceError {
  return new CoppiceError('E_REFUSED', 'this Idempotency-Key was used for another request', {
    hint: 'Use a new key for each request, and the same one to repeat it',
  });
}

/** One delivery in `coppice/deliveries/v1`. */
function deliveryJson({ body, progress: _, ...delivery }: Delivery): DeliveryDocument {
  return {
    ...delivery,
    ...{ outcome: delivery.outcome ?? null, outcome_text: delivery.outcome_text ?? null },
    text: delivery.kind === 'alert' ? body : null,
    created_at: isoTime(delivery.created_at),
    next_at: delivery.status === 'pending' ? isoTime(delivery.next_at) : null,
    ended_at: isoTime(delivery.ended_at),
  };
}
