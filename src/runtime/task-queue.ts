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

  /** Counts the run as one at work when it may begin; else it waits for its turn. */
  mayBegin(agent: Agent): boolean {
    const working = entry(this.#working, agent.root_id);
    if (working.size >= this.#max_concurrent) {
      entry(this.#waiting, agent.root_id).add(agent.id);
      return false;
    }
    this.#waiting.get(agent.root_id)?.delete(agent.id);
    working.add(agent.id);
    return true;
  }

  /** Takes over what is true of an agent now; returns the run whose turn has come by it, if any. */
  see(agent: Agent): string | null {
    if (agent.origin !== 'session') return null;
    const working = entry(this.#working, agent.root_id);
    if (isWorking(agent.state.type)) {
      working.add(agent.id);
      return null;
    }
    // At rest before its first turn: queued, and maybe about to begin in this very step.
    if (agent.state.type === 'idle') return null;
    working.delete(agent.id);
    const waiting = entry(this.#waiting, agent.root_id);
    waiting.delete(agent.id);
    const [next] = working.size < this.#max_concurrent ? waiting : [];
    return next ?? null;
  }

  /** The step in which it was to begin was not taken. */
  notBegun(agent: Agent): void {
    if (agent.state.type === 'idle') this.#working.get(agent.root_id)?.delete(agent.id);
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
