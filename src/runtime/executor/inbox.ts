import { type Mail, WAKING_MAIL } from '../../records/conversation/mail.ts';

/** Pending mail of one agent in order, with a count per sender so that a fan-in need not search it. */
export class Inbox {
  #mail: Mail[];
  readonly #ids = new Set<string>();
  /** An id is less than the message that carries the letter, which stays in the prompt. */
  readonly #taken = new Set<string>();
  readonly #letters_from = new Map<string, number>();

  constructor(mail: readonly Mail[]) {
    this.#mail = [];
    for (const one of mail) this.add(one);
  }

  /** A letter that is here already changes nothing, nor does one that was taken: a look at the ledger may have begun before that. */
  add(mail: Mail): void {
    if (this.#ids.has(mail.id) || this.#taken.has(mail.id)) return;
    this.#ids.add(mail.id);
    const last = this.#mail.at(-1);
    this.#mail.push(mail);
    if (last !== undefined && last.number > mail.number) this.#mail.sort((a, b) => a.number - b.number);
    if (mail.kind === 'letter' && mail.from_id !== null) this.#count(mail.from_id, 1);
  }

  remove(ids: ReadonlySet<string>): void {
    if (ids.size === 0) return;
    for (const id of ids) this.#taken.add(id);
    this.#mail = this.#mail.filter((mail) => {
      if (!ids.has(mail.id)) return true;
      this.#ids.delete(mail.id);
      if (mail.kind === 'letter' && mail.from_id !== null) this.#count(mail.from_id, -1);
      return false;
    });
  }

  #count(from_id: string, change: number): void {
    const count = (this.#letters_from.get(from_id) ?? 0) + change;
    if (count === 0) this.#letters_from.delete(from_id);
    else this.#letters_from.set(from_id, count);
  }

  hasLetterFrom(agent_id: string): boolean {
    return this.#letters_from.has(agent_id);
  }

  /** Mail that wakes the agent and that it was not told of yet; `noticed` is the number of the newest letter that it was. */
  hasNews(noticed: number): boolean {
    return this.#mail.some(({ kind, number }) => WAKING_MAIL.has(kind) && number > noticed);
  }

  get isEmpty(): boolean {
    return this.#mail.length === 0;
  }

  /** Oldest first. */
  all(): readonly Mail[] {
    return this.#mail;
  }
}
