import type { Agent } from '../../records/agent/agent.ts';
import type { Mail } from '../../records/conversation/mail.ts';
import type { PlacedMessage } from '../../records/conversation/message.ts';
import type { AgentMark, Store } from '../../store/store.ts';

/** Messages that are read at once. */
const PAGE = 200;

export interface ConversationListener {
  message(agent_id: string, message: PlacedMessage): void;
  mail(mail: Mail): void;
}

/** A tree whose conversations somebody follows. Each message and each letter is told once, in order, whether this process wrote it or another one. */
export class WatchedTree {
  /** Number of the newest event when it began to be watched: clients that left before have missed something. */
  readonly since: number;
  readonly #listener: ConversationListener;
  readonly #told = new Map<string, { seq: number; mail: number }>();
  clients = 0;
  /** When the last client left. */
  left_at = 0;

  constructor(since: number, marks: readonly AgentMark[], listener: ConversationListener) {
    this.since = since;
    this.#listener = listener;
    for (const { id, last_seq, mail_count } of marks) this.#told.set(id, { seq: last_seq, mail: mail_count });
  }

  has(agent_id: string): boolean {
    return this.#told.has(agent_id);
  }

  /** An agent that was just created: its own messages follow its fork point. */
  learn(agent: Pick<Agent, 'id' | 'forked_from'>): void {
    if (!this.has(agent.id)) this.#told.set(agent.id, { seq: agent.forked_from?.seq ?? 0, mail: 0 });
  }

  /** False: something before it is missing, which `catchUp` reads. */
  message(agent_id: string, message: PlacedMessage): boolean {
    const told = this.#told.get(agent_id);
    if (told === undefined || message.seq > told.seq + 1) return false;
    if (message.seq === told.seq + 1) {
      told.seq = message.seq;
      this.#listener.message(agent_id, message);
    }
    return true;
  }

  /** The same for mail. */
  mail(mail: Mail): boolean {
    const told = this.#told.get(mail.to_id);
    if (told === undefined || mail.number > told.mail + 1) return false;
    if (mail.number === told.mail + 1) {
      told.mail = mail.number;
      this.#listener.mail(mail);
    }
    return true;
  }

  /** Reads what the marks of its agents show and nobody was told of yet. */
  async catchUp(store: Store, marks: readonly AgentMark[]): Promise<void> {
    for (const { id, last_seq, mail_count } of marks) {
      if (!this.has(id)) this.learn((await store.agent(id)) ?? { id, forked_from: null });
      const told = this.#told.get(id) as { seq: number; mail: number };
      if (told.mail < mail_count)
        for (const mail of await store.mail(id, true)) if (mail.number > told.mail) this.mail(mail);
      while (told.seq < last_seq) {
        const page = await store.history(id, told.seq, PAGE);
        for (const message of page) this.message(id, message);
        // Deleted meanwhile.
        if (page.length === 0) break;
      }
    }
  }
}
