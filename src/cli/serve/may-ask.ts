import type { AgentConfig } from '../../records/agent/agent.ts';

/** Whether somebody answers what an agent of a served tree asks: in its chat, or by `coppice approvals`. Of a run on a timer nobody knows. */
export function mayAsk({ channel, unattended }: AgentConfig): boolean {
  return channel !== undefined || unattended !== true;
}
