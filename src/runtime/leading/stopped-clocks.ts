import type { Agent } from '../../records/agent/agent.ts';
import { isWorking } from '../../records/agent/state.ts';
import { abovePaused, pauseOf } from '../../records/conversation/parked.ts';
import { keptIn } from '../../records/kept-in.ts';
import type { Executor } from '../executor/executor.ts';

type Led = Pick<Executor, 'agent_index' | 'cells' | 'happened'>;

/** While an agent is paused, time stands still for those above it as well: a turn that waits for it does not run out. */
export class StoppedClocks {
  /** Since when agents are paused, by id. */
  readonly #since = new Map<string, number>();
  /** By agent: how many below it are paused, since when any of them is, and until when that was taken into account. */
  readonly #below = new Map<string, { count: number; since: number; through: number }>();

  /** Follows an agent; when its pause has ended, moves the clocks above it. Pauses that overlap count once. */
  see(agent: Agent, executor: Led): void {
    const pause = pauseOf(agent.state);
    const began = this.#since.get(agent.id);
    if ((pause === null) === (began === undefined)) return;
    const above = executor.agent_index.lineage(agent).slice(1);
    if (pause !== null) {
      this.#since.set(agent.id, pause.at);
      for (const { id } of above) {
        const below = keptIn(this.#below, id, () => ({ count: 0, since: pause.at, through: 0 }));
        below.count += 1;
        below.since = Math.min(below.since, pause.at);
      }
      return;
    }
    this.#since.delete(agent.id);
    const at = agent.updated_at;
    for (const { id } of above) {
      const below = keptIn(this.#below, id, () => ({ count: 1, since: began ?? at, through: 0 }));
      const by_ms = at - Math.max(below.since, below.through);
      below.through = Math.max(at, below.through);
      below.count -= 1;
      if (below.count === 0) this.#below.delete(id);
      const cell = executor.cells.get(id);
      if (cell === undefined || !isWorking(cell.agent.state.type) || by_ms <= 0) continue;
      executor.happened(cell, { type: 'clock-moved', at, by_ms });
    }
  }

  /** Whether an agent below this one is paused. */
  isAbove({ id, root_id }: Agent, { agent_index }: Led): boolean {
    return this.#since.size > 0 && abovePaused(agent_index.members(root_id)).has(id);
  }
}
