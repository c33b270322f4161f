import type { Order } from '../../kernel/turn/order.ts';
import type { Agent } from '../../records/agent/agent.ts';
import type { MailKind, NewMail } from '../../records/conversation/mail.ts';
import { storable } from '../../records/text/text.ts';
import { type Surroundings, SYSTEM_SURROUNDINGS } from '../surroundings.ts';

/** Mail from the person at this machine. */
export function humanMail(
  to: Agent,
  kind: Extract<MailKind, 'letter' | 'control'>,
  body: string,
  { now, newId }: Surroundings = SYSTEM_SURROUNDINGS,
): NewMail {
  return {
    id: newId(),
    root_id: to.root_id,
    to_id: to.id,
    from_id: null,
    from_name: 'you',
    kind,
    body: storable(body),
    sent_at: now(),
  };
}

/** An order as an agent's mailbox takes it. */
export function orderMail(to: Agent, order: Order, surroundings?: Surroundings): NewMail {
  return humanMail(to, 'control', JSON.stringify(order), surroundings);
}
