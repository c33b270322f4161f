import { messagesAfter } from '../../documents/messages-after.ts';
import type { Agent } from '../../records/agent/agent.ts';
import type { Mail } from '../../records/conversation/mail.ts';
import type { PlacedMessage } from '../../records/conversation/message.ts';
import type { AgentMark, Store } from '../../store/store.ts';

export interface ConversationListener {
  message(agent_id: string, message: PlacedMessage): void;
  mail(mail: Mail): void;
}

/** A tree whose conversations a client follows. Each message and each letter is reported once, in order, whichever process wrote it. */
export class WatchedTree {
  /** Event number at which watching began; clients whose last event is older have missed something. */
  readonly since: number;
  readonly #listener: ConversationListener;
  readonly #told = new Map<string, { seq: number; mail: number }>();
  clients = 0;
  /** Time at which the last client left, by `performance.now()`. */
  left_at = 0;

  constructor(since: number, marks: readonly AgentMark[], listener: ConversationListener) {
    this.since = since;
    this.#listener = listener;
    for (const { id, last_seq, mail_count } of marks) this.#told.set(id, { seq: last_seq, mail: mail_count });
  }

  has(agent_id: string): boolean {
    return this.#told.has(agent_id);
  }

  /** Adds a new agent, whose own messages begin after its fork point. */
  learn(agent: Pick<Agent, 'id' | 'forked_from'>): void {
    if (!this.has(agent.id)) this.#told.set(agent.id, { seq: agent.forked_from?.seq ?? 0, mail: 0 });
  }

  /** Returns false if something before the message is missing, which `catchUp` will read. */
  message(agent_id: string, message: PlacedMessage): boolean {
    return this.#next(agent_id, 'seq', message.seq, () => this.#listener.message(agent_id, message));
  }

  /** Like `message`, for mail. */
  mail(mail: Mail): boolean {
    return this.#next(mail.to_id, 'mail', mail.number, () => this.#listener.mail(mail));
  }

  #next(agent_id: string, of: 'seq' | 'mail', number: number, tell: () => void): boolean {
    const told = this.#told.get(agent_id);
    if (told === undefined || number > told[of] + 1) return false;
    if (number > told[of]) {
      told[of] = number;
      tell();
    }
    return true;
  }

  /** Reads and reports the messages and mail that the marks show but that have not been reported yet. */
  async catchUp(store: Store, marks: readonly AgentMark[]): Promise<void> {
    for (const { id, last_seq, mail_count } of marks) {
      if (!this.has(id)) this.learn((await store.agent(id)) ?? { id, forked_from: null });
      const told = this.#told.get(id) as { seq: number; mail: number };
      if (told.mail < mail_count) for (const mail of await store.mail(id, true, told.mail)) this.mail(mail);
      if (told.seq < last_seq)
        for await (const message of messagesAfter(store, id, told.seq)) this.message(id, message);
    }
  }
}
