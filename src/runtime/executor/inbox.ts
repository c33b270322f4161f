import { type Mail, WAKING_MAIL } from '../../records/conversation/mail.ts';
import { countIn } from '../../records/kept-in.ts';

/** Pending mail of one agent in order; counts letters by sender, so that a wait need not search them. */
export class Inbox {
  #mail: Mail[];
  readonly #ids = new Set<string>();
  /** Ids of consumed mail. They take less memory than the messages that carry it, which stay in the prompt. */
  readonly #consumed = new Set<string>();
  readonly #letters_from = new Map<string, number>();
  #onNews: (() => void) | undefined;
  /** Number of the newest mail of which `listen` has told. */
  #told = 0;
  /** Number of the newest mail that was read from the ledger, with all before it: their numbers rise in the order of their transactions. */
  read_through = 0;

  constructor(mail: readonly Mail[]) {
    this.#mail = [];
    for (const one of mail) this.add(one, true);
  }

  /** Idempotent, also for consumed mail: a read of the ledger may have begun before the mail was consumed. `is_read`: it was found by such a read. */
  add(mail: Mail, is_read = false): void {
    if (is_read) this.read_through = Math.max(this.read_through, mail.number);
    if (this.#ids.has(mail.id) || this.#consumed.has(mail.id)) return;
    this.#ids.add(mail.id);
    const last = this.#mail.at(-1);
    this.#mail.push(mail);
    if (last !== undefined && last.number > mail.number) this.#mail.sort((a, b) => a.number - b.number);
    if (mail.kind === 'letter' && mail.from_id !== null) countIn(this.#letters_from, mail.from_id, 1);
    this.#onNews?.();
  }

  remove(ids: ReadonlySet<string>): void {
    if (ids.size === 0) return;
    for (const id of ids) this.#consumed.add(id);
    this.#mail = this.#mail.filter((mail) => {
      if (!ids.has(mail.id)) return true;
      this.#ids.delete(mail.id);
      if (mail.kind === 'letter' && mail.from_id !== null) countIn(this.#letters_from, mail.from_id, -1);
      return false;
    });
  }

  hasLetterFrom(agent_id: string): boolean {
    return this.#letters_from.has(agent_id);
  }

  /** Whether there is mail that wakes the agent and is newer than `noticed`, the number of the newest mail that it was told of. */
  hasNews(noticed: number): boolean {
    return this.#mail.some(({ kind, number }) => WAKING_MAIL.has(kind) && number > noticed);
  }

  /** Calls `onNews` as soon as there is mail that wakes the agent and of which no earlier call was told; returns what ends this. */
  listen(onNews: () => void): () => void {
    this.#onNews = () => {
      if (!this.hasNews(this.#told)) return;
      this.#told = this.#mail.at(-1)?.number ?? 0;
      onNews();
    };
    this.#onNews();
    return () => {
      this.#onNews = undefined;
    };
  }

  get isEmpty(): boolean {
    return this.#mail.length === 0;
  }

  /** Oldest first. */
  all(): readonly Mail[] {
    return this.#mail;
  }
}
