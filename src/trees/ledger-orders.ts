import { randomUUID } from 'node:crypto';
import type { Order } from '../kernel/mailbox/order.ts';
import type { NewMail } from '../records/conversation/mail.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import { storable } from '../records/text/text.ts';
import type { RuntimeFace } from '../runtime/runtime-face.ts';
import type { RulesPlace } from '../store/approvals/answer-approval.ts';
import type { Store } from '../store/store.ts';

export type Orders = Pick<RuntimeFace, 'send' | 'kill' | 'answer' | 'compact'>;

/** A person's orders, written to the ledger for the process that leads the agent. */
export function ledgerOrders(store: Store, rules: RulesPlace): Orders {
  const post = async (to_id: string, mail: Pick<NewMail, 'id' | 'from_name' | 'kind' | 'body'>) => {
    const root_id = (await store.agent(to_id))?.root_id ?? to_id;
    const result = await store.send({ ...mail, root_id, to_id, from_id: null, sent_at: Date.now() });
    if (!result.ok) throw new CoppiceError('E_AGENT_DEAD', 'the agent has ended and cannot receive mail');
    return result.mail;
  };
  return {
    kill: async (agent_id) => (await store.kill(agent_id, 'you', Date.now())).ids,
    answer: async (ask_id, answer) => {
      // Imported lazily: the code for rules takes longer to load than most commands take to run.
      const { answerApproval } = await import('../store/approvals/answer-approval.ts');
      await answerApproval(store, ask_id, { by: 'you', ...answer, at: Date.now() }, rules);
    },
    send: async (to_id, text, { id = randomUUID(), from = 'you' } = {}) =>
      post(to_id, { id, from_name: from, kind: 'letter', body: storable(text) }),
    compact: async (agent_id, note = '') => {
      const body = JSON.stringify({ type: 'compact', note: storable(note) } satisfies Order);
      await post(agent_id, { id: randomUUID(), from_name: 'you', kind: 'control', body });
    },
  };
}
