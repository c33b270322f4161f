import type { Agent } from '../../records/agent/agent.ts';
import { isWorking } from '../../records/agent/state.ts';

/** Trees that were in view before. Agents at work in them go on in this process. */
export class BackgroundTrees {
  /** Ids of the agents at work, by root. */
  readonly #working = new Map<string, Set<string>>();
  readonly #worker_id: string;

  constructor(worker_id: string) {
    this.#worker_id = worker_id;
  }

  leave(root_id: string, agents: Iterable<Agent>): void {
    this.#working.set(root_id, new Set());
    for (const agent of agents) this.see(agent);
  }

  /** Forgets a tree that is in view again. */
  returnTo(root_id: string): void {
    this.#working.delete(root_id);
  }

  /** Records that an agent has changed; false if it belongs to none of these trees. */
  see({ id, root_id, state, worker }: Agent): boolean {
    const working = this.#working.get(root_id);
    if (working === undefined) return false;
    if (isWorking(state.type) && worker === this.#worker_id) working.add(id);
    else working.delete(id);
    return true;
  }

  isBusy(root_id: string): boolean {
    return (this.#working.get(root_id)?.size ?? 0) > 0;
  }

  /** Number of agents at work in all of these trees. */
  get working(): number {
    return [...this.#working.values()].reduce((sum, agents) => sum + agents.size, 0);
  }

  /** Roots of the trees in which an agent is at work. */
  get busy(): readonly string[] {
    return [...this.#working.keys()].filter((root_id) => this.isBusy(root_id));
  }
}
