import type { AgentConfig, Origin } from './agent.ts';

/** Models that are agent programs of their own, reached over ACP: `acp:NAME`. They call their tools, never ours. */
export function isAgentProgram(model: string): boolean {
  return model.startsWith('acp:');
}

/** Whether an agent must end with `submit_result` or `submit_error` (seed 3); what an agent program says last is its result. */
export function mustSubmit(config: AgentConfig, origin: Origin): boolean {
  if (config.task === undefined || origin !== config.task.kind || isAgentProgram(config.model)) return false;
  return config.task.kind === 'spawn' || hasSchema(config);
}

/** Its result counts only as it was submitted, since it is checked then. */
export function hasSchema({ task }: AgentConfig): boolean {
  return task !== undefined && task.output_schema !== null;
}
