import { randomUUID } from 'node:crypto';
import type { Order } from '../../kernel/mailbox/order.ts';
import type { Agent } from '../../records/agent/agent.ts';
import { nameFault, storedName } from '../../records/agent/agent-name.ts';
import { isTerminal } from '../../records/agent/state.ts';
import type { Mail, MailKind, NewMail } from '../../records/conversation/mail.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { storable } from '../../records/text/text.ts';
import type { Store } from '../../store/store.ts';
import type { Executor } from '../executor/executor.ts';
import type { RuntimeFace, SendOptions } from '../runtime-face.ts';
import type { OpenOptions } from '../runtime-options.ts';

/** Maximum time that `fork` waits for the process that leads the agent. */
const FORK_TIMEOUT_MS = 10_000;
const POLL_MS = 20;

/** People's orders to agents, whichever process leads them. Orders go through the mailbox, so they are durable and followed exactly once. */
export class HumanOrders {
  readonly #store: Store;
  readonly #executor: Executor;
  readonly #options: OpenOptions;

  constructor(executor: Executor, options: OpenOptions) {
    this.#executor = executor;
    this.#store = options.store;
    this.#options = options;
  }

  #stamp(): { readonly id: string; readonly sent_at: number } {
    return { id: this.#options.newId(), sent_at: this.#options.clock.now() };
  }

  async find(id: string): Promise<Agent> {
    const agent = this.#executor.agent_index.agent(id) ?? (await this.#store.agent(id));
    if (agent === null) throw new CoppiceError('E_AGENT_NOT_FOUND', `no agent ${id}`);
    return agent;
  }

  async send(to_id: string, text: string, { id, from, images }: SendOptions): Promise<Mail> {
    if (text.trim() === '') throw new CoppiceError('E_INVALID_ARGUMENT', 'the message is empty');
    const agent = await this.find(to_id);
    const mail = humanMail(agent, 'letter', text, this.#stamp());
    const named = { ...mail, id: id ?? mail.id, from_name: from ?? mail.from_name };
    return this.#post(agent, images === undefined ? named : { ...named, images });
  }

  async takeBack(agent_id: string, mail_id: string): Promise<boolean> {
    const taken = await this.#store.takeBack(agent_id, mail_id);
    // The ledger refuses a step that was about to consume it; the step is then decided again.
    if (taken) this.#executor.cells.get(agent_id)?.inbox.remove(new Set([mail_id]));
    return taken;
  }

  async kill(agent_id: string): Promise<readonly string[]> {
    await this.find(agent_id);
    const { ids } = await this.#store.kill(agent_id, 'you', this.#options.clock.now());
    if (ids.length > 0) this.#executor.markKilled(ids, 'you');
    return ids;
  }

  async order(agent_id: string, order: Order): Promise<Mail> {
    const agent = await this.find(agent_id);
    return this.#post(agent, orderMail(agent, order, this.#stamp()));
  }

  async #post(agent: Agent, mail: NewMail): Promise<Mail> {
    const result = await this.#store.send(mail);
    if (!result.ok) throw new CoppiceError('E_AGENT_DEAD', `${agent.name} has ended and cannot receive mail`);
    // Mail with this id may have been sent and consumed before.
    if (result.mail.consumed_seq === null) this.#executor.delivered(result.mail);
    return result.mail;
  }

  /** Resolves to the child once it exists. Rejects with `E_REFUSED` if a limit forbids it, or if no process follows the order in time. */
  async fork(
    ...[agent_id, name, prompt, captured = false, id = this.#options.newId()]: Parameters<RuntimeFace['fork']>
  ): Promise<Agent> {
    const fault = nameFault(name);
    if (fault !== null) throw new CoppiceError('E_INVALID_ARGUMENT', fault);
    const made_before = await this.#store.agent(id);
    if (made_before !== null) return made_before;
    const text = prompt === null ? null : storable(prompt);
    const mail = await this.order(agent_id, {
      type: 'fork',
      id,
      name: storedName(name),
      prompt: text,
      captured,
    });
    for (let waited = 0; waited < FORK_TIMEOUT_MS; waited += POLL_MS) {
      const child = this.#executor.agent_index.agent(id) ?? (await this.#store.agent(id));
      if (child !== null && child !== undefined) return child;
      if (!(await this.#isPending(mail))) break;
      const asked = await this.#store.agent(agent_id);
      if (asked === null || isTerminal(asked.state.type))
        throw new CoppiceError('E_AGENT_DEAD', `${asked?.name ?? agent_id} has ended; nothing was forked`);
      await new Promise<void>((resolve) => this.#options.clock.after(POLL_MS, resolve));
    }
    const made = await this.#store.agent(id);
    if (made !== null) return made;
    throw new CoppiceError('E_REFUSED', await this.#noticeOf(mail));
  }

  async wait(agent_id: string, timeout_ms: number, from: readonly string[] | null): Promise<void> {
    if (!Number.isFinite(timeout_ms) || timeout_ms < 0)
      throw new CoppiceError('E_INVALID_ARGUMENT', 'the time to wait must be a number, 0 or more');
    await this.order(agent_id, { type: 'wait', timeout_ms, from: from === null ? null : [...new Set(from)] });
  }

  async #isPending(mail: Mail): Promise<boolean> {
    return (await this.#store.mail(mail.to_id)).some((one) => one.id === mail.id);
  }

  /** Reason why nothing was forked: the notice in the conversation where the order was consumed. */
  async #noticeOf({ id, to_id }: Mail): Promise<string> {
    const taken = (await this.#store.mail(to_id, true)).find((one) => one.id === id);
    const seq = taken?.consumed_seq ?? null;
    if (seq === null) {
      const { name } = await this.find(to_id);
      return `${name} has not responded: no process leads it, or its process is stuck. The fork is made as soon as it continues.`;
    }
    const [message] = await this.#store.history(to_id, seq - 1, 1);
    const told =
      message?.kind === 'event' && message.content.event === 'notice' ? message.content.text : null;
    return told ?? 'nothing was forked';
  }

  /** Rejects as `answerApproval` does. */
  async answer(...[ask_id, answer]: Parameters<RuntimeFace['answer']>): Promise<void> {
    const given = { by: 'you', ...answer, at: this.#options.clock.now() };
    const { answerApproval } = await import('../../store/approvals/answer-approval.ts');
    const mails = await answerApproval(this.#store, ask_id, given, this.#options);
    for (const mail of mails) this.#executor.delivered(mail);
  }
}

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
