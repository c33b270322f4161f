import type { Toolset } from '../toolset.ts';

/** The toolset `workflow`: brings the tool of that name, which starts scripts that orchestrate agents (docs/workflows.md). */
export const workflowToolset: Toolset = {
  name: 'workflow',
  tools: [],
  guidance:
    'For work that many agents share (dozens of files, several independent checks, stages), write a workflow: a script that starts them, passes results along and returns one answer. When you have nothing else to do, end your turn: its end wakes you.',
};
