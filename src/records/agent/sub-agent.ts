import type { AgentConfig } from './agent.ts';

/**
 * Whether somebody in the same tree gave it its one task: such an agent creates no others but by delegation (seeds 3 and 4). A run on a timer is
 * the root of its tree and splits its work like any other root.
 */
export function isSubAgent({ task }: Pick<AgentConfig, 'task'>): boolean {
  return task !== undefined && task.kind !== 'cron';
}
