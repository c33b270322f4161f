import type { Agent } from '../../records/agent/agent.ts';
import type { Mail } from '../../records/conversation/mail.ts';

/** Agents that other processes lead, as far as this process knows: which trees contain such agents, and which of them have mail to work on. */
export class RemoteAgents {
  readonly #shared_trees = new Set<string>();
  /** Number of the newest mail that this process sent, by recipient. */
  readonly #newest_sent = new Map<string, number>();

  /** Who wrote the unread letters of agents that only wait, as of their number of mails. */
  readonly #writers = new Map<
    string,
    { readonly mail_count: number; readonly ids: ReadonlySet<string | null> }
  >();

  markShared(root_id: string): void {
    this.#shared_trees.add(root_id);
  }

  isShared(root_id: string): boolean {
    return this.#shared_trees.has(root_id);
  }

  forget(root_id: string, members: readonly Agent[]): void {
    this.#shared_trees.delete(root_id);
    for (const { id } of members) for (const map of [this.#newest_sent, this.#writers]) map.delete(id);
  }

  sentTo({ to_id, number }: Mail): void {
    this.#newest_sent.set(to_id, Math.max(number, this.#newest_sent.get(to_id) ?? 0));
  }

  heard({ id, mail_count }: Agent, unread: readonly Mail[]): void {
    const letters = unread.filter(({ kind }) => kind === 'letter');
    this.#writers.set(id, { mail_count, ids: new Set(letters.map(({ from_id }) => from_id)) });
  }

  /** Whether the agent has mail to work on, or a letter of `from_id`; a row that was read before this process's mail was written does not count that mail. */
  hasMail({ id, mail_count, unread }: Agent, from_id?: string): boolean {
    if ((this.#newest_sent.get(id) ?? 0) > mail_count) return true;
    const read = from_id === undefined ? undefined : this.#writers.get(id);
    return unread === true && (read?.mail_count !== mail_count || read.ids.has(from_id ?? null));
  }
}
