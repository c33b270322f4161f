import type { AgentConfig } from './agent.ts';
import type { Limits } from './limits.ts';

/** How long a turn of the agent may take, milliseconds. */
export function runTime(config: AgentConfig, limits: Limits): number {
  return Math.min(limits.run_ms, config.run_ms ?? limits.run_ms);
}
