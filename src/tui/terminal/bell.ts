import type { Agent } from '../../records/agent/agent.ts';
import { isWorking } from '../../records/agent/state.ts';

/** A longer turn of the root rings at its end. */
const LONG_TURN_MS = 10_000;

/** Decides when to ring for somebody who looks elsewhere: the root ended a long turn, or an agent failed. Children do not ring. */
export class Bell {
  #turn_began = 0;

  /** Null: nothing to ring for. */
  heard(before: Agent | undefined, agent: Agent, now: number): string | null {
    const was = before !== undefined && isWorking(before.state.type);
    const works = isWorking(agent.state.type);
    if (agent.parent_id === null && !was && works) this.#turn_began = now;
    if (!was || works) return null;
    if (agent.state.type === 'errored') return `${agent.name} failed`;
    const long = agent.parent_id === null && now - this.#turn_began > LONG_TURN_MS;
    return long ? `${agent.name} is done` : null;
  }
}
