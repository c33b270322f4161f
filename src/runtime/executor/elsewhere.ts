import type { Agent } from '../../records/agent/agent.ts';
import type { Mail } from '../../records/conversation/mail.ts';

/** What this process knows of agents that other processes lead: which trees have such, and who of them has mail to work on. */
export class Elsewhere {
  readonly #shared_trees = new Set<string>();
  /** The number of the newest letter that went to each of them from here. */
  readonly #written_to = new Map<string, number>();

  markShared(root_id: string): void {
    this.#shared_trees.add(root_id);
  }

  isShared(root_id: string): boolean {
    return this.#shared_trees.has(root_id);
  }

  forget(root_id: string, members: readonly Agent[]): void {
    this.#shared_trees.delete(root_id);
    for (const { id } of members) this.#written_to.delete(id);
  }

  wroteTo({ to_id, number }: Mail): void {
    this.#written_to.set(to_id, Math.max(number, this.#written_to.get(to_id) ?? 0));
  }

  /** A look at the ledger from before our letter says nothing about it. */
  hasMail({ id, mail_count, unread }: Agent): boolean {
    return unread === true || (this.#written_to.get(id) ?? 0) > mail_count;
  }
}
