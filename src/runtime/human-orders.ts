import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Agent } from '../core/agent.ts';
import type { AskAnswer } from '../core/ask.ts';
import { CoppiceError } from '../core/coppice-error.ts';
import type { Mail } from '../core/mail.ts';
import type { Order } from '../core/order.ts';
import { storable } from '../core/text.ts';
import type { Store } from '../store/store.ts';
import type { Executor } from './executor.ts';
import { humanMail, orderMail } from './human-mail.ts';

/** How long whoever leads an agent has to follow an order. */
const ANSWER_MS = 10_000;
const LOOK_MS = 20;

/** What a person tells agents, wherever they are led: it goes through the mailbox, so it survives and comes once. */
export class HumanOrders {
  readonly #store: Store;
  readonly #executor: Executor;

  constructor(store: Store, executor: Executor) {
    this.#store = store;
    this.#executor = executor;
  }

  async find(id: string): Promise<Agent> {
    const agent = this.#executor.forest.agent(id) ?? (await this.#store.agent(id));
    if (agent === null) throw new CoppiceError('E_AGENT_NOT_FOUND', `no agent ${id}`);
    return agent;
  }

  async send(to_id: string, text: string): Promise<Mail> {
    if (text.trim() === '') throw new CoppiceError('E_INVALID_ARGUMENT', 'the message is empty');
    const agent = await this.find(to_id);
    return this.#post(agent, humanMail(agent, 'letter', text));
  }

  async order(agent_id: string, order: Order): Promise<Mail> {
    const agent = await this.find(agent_id);
    return this.#post(agent, orderMail(agent, order));
  }

  async #post(agent: Agent, mail: ReturnType<typeof humanMail>): Promise<Mail> {
    const result = await this.#store.send(mail);
    if (!result.ok) throw new CoppiceError('E_AGENT_DEAD', `${agent.name} has ended and reads no mail`);
    this.#executor.delivered(result.mail);
    return result.mail;
  }

  /** The child, once it is there. Rejects with `E_REFUSED` when a limit forbids it. */
  async fork(agent_id: string, name: string, prompt: string | null): Promise<Agent> {
    const id = randomUUID();
    const text = prompt === null ? null : storable(prompt);
    const mail = await this.order(agent_id, { type: 'fork', id, name: storable(name), prompt: text });
    for (let waited = 0; waited < ANSWER_MS; waited += LOOK_MS) {
      const child = this.#executor.forest.agent(id) ?? (await this.#store.agent(id));
      if (child !== null && child !== undefined) return child;
      if (!(await this.#isPending(mail))) break;
      await sleep(LOOK_MS);
    }
    const made = await this.#store.agent(id);
    if (made !== null) return made;
    throw new CoppiceError('E_REFUSED', await this.#noticeOf(agent_id));
  }

  async #isPending(mail: Mail): Promise<boolean> {
    return (await this.#store.mail(mail.to_id)).some((one) => one.id === mail.id);
  }

  async #noticeOf(agent_id: string): Promise<string> {
    const agent = await this.find(agent_id);
    const newest = await this.#store.history(agent_id, Math.max(0, agent.last_seq - 5));
    const notices = newest.flatMap((message) =>
      message.kind === 'event' && message.content.event === 'notice' ? [message.content.text] : [],
    );
    return notices.at(-1) ?? `${agent.name} did not answer; nothing was forked`;
  }

  /** Rejects with `E_ASK_ANSWERED` when somebody was first, or the call is gone. */
  async answer(ask_id: string, answer: Omit<AskAnswer, 'by' | 'at'>): Promise<void> {
    const result = await this.#store.answer(ask_id, { ...answer, by: 'you', at: Date.now() });
    if (!result.ok)
      throw new CoppiceError('E_ASK_ANSWERED', 'that was answered already, or its call is gone');
    this.#executor.delivered(result.mail);
  }
}
