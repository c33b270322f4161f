import { randomUUID } from 'node:crypto';
import type { Order } from '../../kernel/mailbox/read-mail.ts';
import type { Agent } from '../../records/agent/agent.ts';
import type { Mail, MailKind, NewMail } from '../../records/conversation/mail.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { storable } from '../../records/text/text.ts';
import type { RulesPlace } from '../../store/approvals/answer-approval.ts';
import type { Store } from '../../store/store.ts';
import type { RuntimeFace } from '../runtime-face.ts';

export type Orders = Pick<
  RuntimeFace,
  'send' | 'kill' | 'answer' | 'compact' | 'interrupt' | 'steerWorkflow'
>;

/** What a runtime in this process adds, which need not wait for the ledger to tell it. */
interface Here {
  readonly find: (id: string) => Agent | undefined;
  readonly stamp: () => Stamp;
  readonly onMail: (mail: Mail) => void;
  readonly onKilled: (ids: readonly string[], by: string) => void;
}

/** Id and time of outgoing mail. */
type Stamp = Pick<NewMail, 'id' | 'sent_at'>;

const ELSEWHERE: Here = {
  find: () => undefined,
  stamp: () => ({ id: randomUUID(), sent_at: Date.now() }),
  onMail: () => undefined,
  onKilled: () => undefined,
};

/**
 * A person's orders to agents, whichever process leads them: written to the ledger, so they are durable and followed exactly once. Rejects with
 * `E_AGENT_NOT_FOUND` and `E_AGENT_DEAD`, `answer` as `answerApproval` does.
 */
export function ledgerOrders(store: Store, rules: RulesPlace, here = ELSEWHERE) {
  const find = async (id: string): Promise<Agent> => {
    const agent = here.find(id) ?? (await store.agent(id));
    if (agent === null) throw new CoppiceError('E_AGENT_NOT_FOUND', `no agent ${id}`);
    return agent;
  };
  const post = async (agent: Agent, mail: NewMail): Promise<Mail> => {
    const result = await store.send(mail);
    if (!result.ok) throw new CoppiceError('E_AGENT_DEAD', `${agent.name} has ended and cannot receive mail`);
    // Mail with this id may have been sent and consumed before.
    if (result.mail.consumed_seq === null) here.onMail(result.mail);
    return result.mail;
  };
  const order = async (agent_id: string, what: Order): Promise<Mail> => {
    const agent = await find(agent_id);
    return post(agent, orderMail(agent, what, here.stamp()));
  };
  return {
    find,
    order,
    send: async (to_id, text, { id, from, images, attached } = {}) => {
      if (typeof text !== 'string') throw new CoppiceError('E_INVALID_ARGUMENT', 'send needs a text');
      if (text.trim() === '') throw new CoppiceError('E_INVALID_ARGUMENT', 'the message is empty');
      const agent = await find(to_id);
      const mail = humanMail(agent, 'letter', text, here.stamp());
      const named = { ...mail, id: id ?? mail.id, from_name: from ?? mail.from_name };
      return post(agent, { ...named, ...(images && { images }), ...(attached && { attached }) });
    },
    kill: async (agent_id, by = 'you') => {
      await find(agent_id);
      const { ids } = await store.kill(agent_id, by, here.stamp().sent_at);
      if (ids.length > 0) here.onKilled(ids, by);
      return ids;
    },
    interrupt: async (agent_id, reason) => {
      await order(agent_id, { type: 'cancel', reason });
    },
    steerWorkflow: async (run_id, how) => {
      await order(run_id, how === 'resume' ? { type: 'go-on' } : { type: 'pause', stops: how === 'stop' });
    },
    compact: async (agent_id, note = '') => {
      await order(agent_id, { type: 'compact', note: storable(note) });
    },
    answer: async (ask_id, answer) => {
      // Imported lazily: the code for rules takes longer to load than most commands take to run.
      const { answerApproval } = await import('../../store/approvals/answer-approval.ts');
      const given = { by: 'you', ...answer, at: here.stamp().sent_at };
      for (const mail of await answerApproval(store, ask_id, given, rules)) here.onMail(mail);
    },
  } satisfies Orders & Readonly<Record<string, unknown>>;
}

/** Mail from the person at this machine. */
export function humanMail(
  to: Agent,
  kind: Extract<MailKind, 'letter' | 'control'>,
  body: string,
  stamp: Stamp = { id: randomUUID(), sent_at: Date.now() },
): NewMail {
  return {
    ...stamp,
    root_id: to.root_id,
    to_id: to.id,
    from_id: null,
    from_name: 'you',
    kind,
    body: storable(body),
  };
}

export function orderMail(to: Agent, order: Order, stamp?: Stamp): NewMail {
  return humanMail(to, 'control', JSON.stringify(order), stamp);
}
