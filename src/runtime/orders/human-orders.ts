import type { Order } from '../../kernel/mailbox/read-mail.ts';
import type { Agent } from '../../records/agent/agent.ts';
import { nameFault, storedName } from '../../records/agent/agent-name.ts';
import { isTerminal } from '../../records/agent/state.ts';
import type { Mail } from '../../records/conversation/mail.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { storable } from '../../records/text/text.ts';
import type { Store } from '../../store/store.ts';
import type { Executor } from '../executor/executor.ts';
import type { RuntimeFace } from '../runtime-face.ts';
import type { OpenOptions } from '../runtime-options.ts';
import { ledgerOrders } from './ledger-orders.ts';

/** Maximum time that `fork` waits for the process that leads the agent. */
const FORK_TIMEOUT_MS = 10_000;
const POLL_MS = 20;

/** A person's orders in the process of a runtime: those of the ledger, and those that wait for their effect. */
export class HumanOrders {
  readonly ledger: ReturnType<typeof ledgerOrders>;
  readonly #store: Store;
  readonly #executor: Executor;
  readonly #options: OpenOptions;

  constructor(executor: Executor, options: OpenOptions) {
    this.#executor = executor;
    this.#store = options.store;
    this.#options = options;
    this.ledger = ledgerOrders(options.store, options, {
      find: (id) => executor.agent_index.agent(id),
      stamp: () => ({ id: options.newId(), sent_at: options.clock.now() }),
      onMail: (mail) => executor.delivered(mail),
      onKilled: (ids, by) => executor.markKilled(ids, by),
    });
  }

  async takeBack(agent_id: string, mail_id: string): Promise<boolean> {
    const taken = await this.#store.takeBack(agent_id, mail_id);
    // The ledger refuses a step that was about to consume it; the step is then decided again.
    if (taken) this.#executor.cells.get(agent_id)?.inbox.remove(new Set([mail_id]));
    return taken;
  }

  async fork(
    ...[agent_id, name, prompt, captured = false, id = this.#options.newId('agent')]: Parameters<
      RuntimeFace['fork']
    >
  ): Promise<Agent> {
    const fault = nameFault(name);
    if (fault !== null) throw new CoppiceError('E_INVALID_ARGUMENT', fault);
    const text = prompt === null ? null : storable(prompt);
    return this.create(agent_id, { type: 'fork', id, name: storedName(name), prompt: text, captured });
  }

  /** Resolves to the child once it exists. Rejects with `E_REFUSED` if a limit forbids it, or if no process follows the order in time. */
  async create(agent_id: string, order: Extract<Order, { type: 'fork' | 'create' }>): Promise<Agent> {
    const { id } = order;
    const made_before = await this.#store.agent(id);
    if (made_before !== null) return made_before;
    const mail = await this.ledger.order(agent_id, order);
    for (let waited = 0; waited < FORK_TIMEOUT_MS; waited += POLL_MS) {
      const child = this.#executor.agent_index.agent(id) ?? (await this.#store.agent(id));
      if (child !== null && child !== undefined) return child;
      if ((await this.#asItIsNow(mail))?.consumed_seq !== null) break;
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
    await this.ledger.order(agent_id, {
      type: 'wait',
      timeout_ms,
      from: from === null ? null : [...new Set(from)],
    });
  }

  async #asItIsNow({ to_id, id, number }: Mail): Promise<Mail | undefined> {
    const [mail] = await this.#store.mail(to_id, true, number - 1, 1);
    return mail?.id === id ? mail : undefined;
  }

  /** Reason why nothing was forked: the notice in the conversation where the order was consumed. */
  async #noticeOf(mail: Mail): Promise<string> {
    const { to_id } = mail;
    const seq = (await this.#asItIsNow(mail))?.consumed_seq ?? null;
    if (seq === null) {
      const { name } = await this.ledger.find(to_id);
      return `${name} has not responded: no process leads it, or its process is stuck. The fork is made as soon as it continues.`;
    }
    const [message] = await this.#store.history(to_id, seq - 1, 1);
    const told =
      message?.kind === 'event' && message.content.event === 'notice' ? message.content.text : null;
    return told ?? 'nothing was forked';
  }
}
