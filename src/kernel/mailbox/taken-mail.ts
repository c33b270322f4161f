import type { Mail } from '../../records/conversation/mail.ts';
import type { Message } from '../../records/conversation/message.ts';
import type { Step } from '../step.ts';

/** Pending mail of one agent. */
export interface Mailbox {
  readonly isEmpty: boolean;
  /** Oldest first. */
  all(): readonly Mail[];
  hasLetterFrom(agent_id: string): boolean;
}

/** A mailbox during one step: the mail that the step takes, and what is left. */
export class TakenMail {
  readonly #inbox: Mailbox;
  readonly #ids = new Set<string>();
  readonly #placed: { mail_id: string; seq: number }[] = [];
  /** Ids of mail that will be part of the next message. */
  readonly #unplaced: string[] = [];
  #is_held = false;

  constructor(inbox: Mailbox) {
    this.#inbox = inbox;
  }

  /** Mail not taken by this step, oldest first. */
  get left(): readonly Mail[] {
    const all = this.#inbox.all();
    return this.isUntouched ? all : all.filter(({ id }) => !this.#ids.has(id));
  }

  get isUntouched(): boolean {
    return this.#ids.size === 0;
  }

  takeWithNext(mail_id: string): void {
    this.#unplaced.push(mail_id);
    this.#ids.add(mail_id);
  }

  takeAt(seq: number, mail_id: string): void {
    this.#placed.push({ mail_id, seq });
    this.#ids.add(mail_id);
  }

  /** Makes the mail taken by `takeWithNext` part of the message at `seq`; returns the message with the letters among it. */
  carry(seq: number, message: Message): Message {
    const ids = new Set(this.#unplaced.splice(0));
    for (const mail_id of ids) this.#placed.push({ mail_id, seq });
    const { kind, content } = message;
    if (ids.size === 0 || (kind !== 'user' && kind !== 'result')) return message;
    const taken = this.#inbox.all().filter((mail) => mail.kind === 'letter' && ids.has(mail.id));
    const letters = taken.map(({ id, from_id }) => ({ id, from_id }));
    if (letters.length === 0) return message;
    return { kind, content: { ...content, facts: { ...content.facts, letters } } } as Message;
  }

  /** Marks that an order needs data from the ledger first; later mail waits behind it. */
  hold(): void {
    this.#is_held = true;
  }

  get isHeld(): boolean {
    return this.#is_held;
  }

  get ids(): ReadonlySet<string> {
    return this.#ids;
  }

  get placed(): Step['consume'] {
    return this.#placed;
  }
}
