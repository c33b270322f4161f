import type { Agent } from '../core/agent.ts';
import { isWorking } from '../core/state.ts';

/** Background runs of this process: how many are at work in each tree, and which wait for their turn, oldest first. */
export class TaskQueue {
  readonly #max_concurrent: number;
  readonly #working = new Map<string, Set<string>>();
  readonly #waiting = new Map<string, Set<string>>();

  constructor(max_concurrent: number) {
    this.#max_concurrent = max_concurrent;
  }

  /** Counts the run as one at work when it may begin; else it waits for its turn. First come, first begun. */
  mayBegin(agent: Agent): boolean {
    const working = entry(this.#working, agent.root_id);
    const waiting = entry(this.#waiting, agent.root_id).add(agent.id);
    if (!this.#nextOf(agent.root_id).includes(agent.id)) return false;
    waiting.delete(agent.id);
    working.add(agent.id);
    return true;
  }

  /** Takes over what is true of an agent now; returns the runs whose turn has come by it. */
  see(agent: Agent): readonly string[] {
    if (agent.origin !== 'session') return [];
    const working = entry(this.#working, agent.root_id);
    if (isWorking(agent.state.type)) {
      working.add(agent.id);
      return [];
    }
    // At rest before its first turn: queued, and maybe about to begin in this very step.
    if (agent.state.type === 'idle') return [];
    working.delete(agent.id);
    entry(this.#waiting, agent.root_id).delete(agent.id);
    return this.#nextOf(agent.root_id);
  }

  /** As many of those who wait, oldest first, as there are places. */
  #nextOf(root_id: string): readonly string[] {
    const free = this.#max_concurrent - entry(this.#working, root_id).size;
    return free <= 0 ? [] : entry(this.#waiting, root_id).values().take(free).toArray();
  }

  /** The step in which it was to begin was not taken. */
  notBegun(agent: Agent): void {
    if (agent.state.type === 'idle') this.#working.get(agent.root_id)?.delete(agent.id);
  }

  /** It is not led here any more: whoever leads it lets it begin. */
  leave(agent: Agent): void {
    this.#waiting.get(agent.root_id)?.delete(agent.id);
  }
}

function entry(map: Map<string, Set<string>>, key: string): Set<string> {
  let set = map.get(key);
  if (set === undefined) {
    set = new Set();
    map.set(key, set);
  }
  return set;
}
