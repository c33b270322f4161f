import type { Agent } from './agent.ts';

/** A conversation that a person began, or a fork of one; sub-agents with a task of their own are none (seed 3, Database). */
export function isUserInitiated(agent: Pick<Agent, 'origin'>): boolean {
  return agent.origin === 'root' || agent.origin === 'fork';
}
