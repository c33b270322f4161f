import type { Agent } from '../../records/agent/agent.ts';
import { isWorking } from '../../records/agent/state.ts';
import { abovePaused, pauseOf } from '../../records/conversation/parked.ts';
import type { Executor } from '../executor/executor.ts';

type Led = Pick<Executor, 'agent_index' | 'cells' | 'happened'>;

/** While an agent is paused, time stands still for those above it as well: a turn that waits for it does not run out. */
export class StoppedClocks {
  /** Since when agents are paused, by id. */
  readonly #since = new Map<string, number>();
  /** Until when pauses below an agent were taken into account, by its id. */
  readonly #through = new Map<string, number>();

  /** Follows an agent; when its pause has ended, moves the clocks above it. Pauses that overlap count once. */
  see(agent: Agent, executor: Led): void {
    const pause = pauseOf(agent.state);
    const since = this.#since.get(agent.id);
    if (pause !== null) this.#since.set(agent.id, pause.at);
    if (pause !== null || since === undefined) return;
    this.#since.delete(agent.id);
    const at = agent.updated_at;
    for (const { id } of executor.agent_index.lineage(agent).slice(1)) {
      const by_ms = at - Math.max(since, this.#through.get(id) ?? 0);
      this.#through.set(id, Math.max(at, this.#through.get(id) ?? 0));
      const cell = executor.cells.get(id);
      if (cell === undefined || !isWorking(cell.agent.state.type) || by_ms <= 0) continue;
      executor.happened(cell, { type: 'clock-moved', at, by_ms });
    }
    if (this.#since.size === 0) this.#through.clear();
  }

  /** Whether an agent below this one is paused. */
  isAbove({ id, root_id }: Agent, { agent_index }: Led): boolean {
    return this.#since.size > 0 && abovePaused(agent_index.members(root_id)).has(id);
  }
}
