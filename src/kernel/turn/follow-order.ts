import type { Mail } from '../../core/mail.ts';
import type { CaptureContent } from '../../core/message.ts';
import type { Order } from '../../core/order.ts';
import { refusalText } from '../../toolsets/toolset.ts';
import type { Draft } from './draft.ts';
import { forkByPerson } from './human-fork.ts';
import type { LedAgent } from './led-agent.ts';
import { retryEvent } from './retry-event.ts';
import type { View } from './view.ts';
import { cancel } from './waits.ts';

/** Does what a person ordered, as far as the agent's state admits it. */
export function follow(order: Order, mail: Mail, draft: Draft, cell: LedAgent, around: View): void {
  const at = around.now;
  const by = mail.from_name;
  switch (order.type) {
    case 'cancel':
      return cancel(draft, cell, around, { type: 'cancel', at, by, reason: order.reason, open: [] });
    case 'retry':
      return void draft.apply(retryEvent(at, cell, order.without_last === true));
    case 'answer': {
      const { ask_id, verdict, note } = order;
      return void draft.apply({ type: 'ask-answered', at, ask_id, verdict, note, by });
    }
    case 'capture':
      return void draft.apply({ type: 'capture', at, content: contentOf(order) });
    case 'fork':
      return forkByPerson(order, by, draft, cell, around);
    case 'wait': {
      // The ledger found that it would close a cycle (law 10).
      const refused = cell.overrides.get(mail.id);
      if (refused !== undefined) return notice(draft, refusalText(refused.code, refused.message));
      const wait = { from: order.from, deadline: mail.sent_at + order.timeout_ms };
      if (order.from?.includes(draft.before.id) === true)
        return notice(draft, 'wait: an agent cannot wait for itself');
      // It is counted from when it was asked for, as its deadline is.
      const wrong = draft.apply({ type: 'human-wait', at: mail.sent_at, wait });
      if (wrong !== null) return notice(draft, `wait: ${wrong.reason}`);
      if (order.from !== null) draft.parked.push({ call_id: mail.id, from: order.from });
    }
  }
}

function contentOf({ text, mark }: Extract<Order, { type: 'capture' }>): CaptureContent {
  return mark === undefined ? { text } : { text, mark };
}

/** Tells people, in the scrollback, what came of an order. */
export function notice(draft: Draft, text: string): void {
  draft.append({ kind: 'event', content: { event: 'notice', text } });
}
