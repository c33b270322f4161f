import { type AgentConfig, isAgentProgram } from '../../../records/agent/agent.ts';
import type { Toolset } from '../toolset.ts';

/** The toolset `workflow`: brings the tool of that name, which starts scripts that orchestrate agents (docs/workflows.md). */
export const workflowToolset: Toolset = {
  name: 'workflow',
  tools: [],
  guidance:
    'For work that many agents share (dozens of files, several independent checks, stages), write a workflow: a script that starts them, passes results along and returns one answer. When you have nothing else to do, end your turn: its end wakes you.',
};

/** Whether a person asks for a workflow, which the main agent then gets the tool for (docs/workflows.md#commands). */
export function asksForWorkflow(text: string): boolean {
  return /\bworkflows?\b/i.test(text);
}

/** The configuration with the toolset `workflow`; the same one if it has it, or if its agent has no tools of ours or works for another. */
export function withWorkflows(config: AgentConfig): AgentConfig {
  const { toolsets, tools, model } = config;
  const has = toolsets.includes('workflow') && tools.includes('workflow');
  const others = config.task ?? config.client ?? config.workflow;
  if (has || others !== undefined || isAgentProgram(model)) return config;
  const added = (names: readonly string[]) => [...new Set([...names, 'workflow'])];
  return { ...config, toolsets: added(toolsets), tools: added(tools) };
}
