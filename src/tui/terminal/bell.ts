import type { Agent } from '../../records/agent/agent.ts';
import { isWorking } from '../../records/agent/state.ts';

/** Duration beyond which a turn of the root rings at its end. */
const LONG_TURN_MS = 10_000;

/** Decides when to ring: the root has ended a long turn, or any agent has failed. The end of a child's turn does not ring. */
export class Bell {
  #turn_began = 0;

  /** Takes a change of an agent; returns the text to ring with, or null. */
  heard(before: Agent | undefined, agent: Agent, now: number): string | null {
    const was = before !== undefined && isWorking(before.state.type);
    const works = isWorking(agent.state.type);
    if (agent.parent_id === null && !was && works) this.#turn_began = now;
    if (!was || works) return null;
    // After a person's wait, the failure is that of an earlier turn.
    if (agent.state.type === 'errored' && before.state.type !== 'waiting') return `${agent.name} failed`;
    const long = agent.parent_id === null && now - this.#turn_began > LONG_TURN_MS;
    return long ? `${agent.name} is done` : null;
  }
}
