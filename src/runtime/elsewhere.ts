import type { Agent } from '../core/agent.ts';
import { isWorking } from '../core/state.ts';
import type { Store } from '../store/store.ts';

/** What this process knows of agents that other processes lead: which trees have such, and who of them has a letter of ours to read. */
export class Elsewhere {
  readonly #store: Store;
  readonly #shared_trees = new Set<string>();
  readonly #written_to = new Set<string>();

  constructor(store: Store) {
    this.#store = store;
  }

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

  wroteTo(agent_id: string): void {
    this.#written_to.add(agent_id);
  }

  hasMail(agent_id: string): boolean {
    return this.#written_to.has(agent_id);
  }

  /**
   * Takes note of what the ledger says of an agent; who rests with our letter unread is about to work on it. Who has read it may have done
   * so after that look, so a newer one is returned: what was true of it before says nothing about our letter.
   */
  async heardOf(agent: Agent): Promise<Agent> {
    const { id, state } = agent;
    if (!this.#written_to.has(id)) return agent;
    if (isWorking(state.type)) {
      this.#written_to.delete(id);
      return agent;
    }
    if ((await this.#store.mail(id)).length > 0) return agent;
    const newer = await this.#store.agent(id);
    this.#written_to.delete(id);
    return newer ?? agent;
  }
}
