import type { AgentConfig } from '../../records/agent/agent.ts';
import type { RuntimeOptions } from '../runtime-options.ts';

/** Whether somebody answers what an agent with this configuration asks. */
export function canAsk({ can_ask = false }: RuntimeOptions, config: AgentConfig): boolean {
  return typeof can_ask === 'function' ? can_ask(config) : can_ask;
}
