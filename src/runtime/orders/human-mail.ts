import { randomUUID } from 'node:crypto';
import type { Order } from '../../kernel/mailbox/order.ts';
import type { Agent } from '../../records/agent/agent.ts';
import type { MailKind, NewMail } from '../../records/conversation/mail.ts';
import { storable } from '../../records/text/text.ts';

/** Id and time of outgoing mail. */
type Stamp = Pick<NewMail, 'id' | 'sent_at'>;

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

/** Control mail with an order to an agent. */
export function orderMail(to: Agent, order: Order, stamp?: Stamp): NewMail {
  return humanMail(to, 'control', JSON.stringify(order), stamp);
}
