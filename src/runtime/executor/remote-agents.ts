import type { Agent } from '../../records/agent/agent.ts';
import type { Mail } from '../../records/conversation/mail.ts';

/** Agents that other processes lead, as far as this process knows: which trees contain such agents, and which of them have mail to work on. */
export class RemoteAgents {
  readonly #shared_trees = new Set<string>();
  /** Number of the newest mail that this process sent, by recipient. */
  readonly #newest_sent = new Map<string, number>();

  markShared(root_id: string): void {
    this.#shared_trees.add(root_id);
  }

  isShared(root_id: string): boolean {
    return this.#shared_trees.has(root_id);
  }

  forget(root_id: string, members: readonly Agent[]): void {
    this.#shared_trees.delete(root_id);
    for (const { id } of members) this.#newest_sent.delete(id);
  }

  sentTo({ to_id, number }: Mail): void {
    this.#newest_sent.set(to_id, Math.max(number, this.#newest_sent.get(to_id) ?? 0));
  }

  /** Whether the agent has mail to work on; a row that was read before this process's mail was written does not count that mail. */
  hasMail({ id, mail_count, unread }: Agent): boolean {
    return unread === true || (this.#newest_sent.get(id) ?? 0) > mail_count;
  }
}
