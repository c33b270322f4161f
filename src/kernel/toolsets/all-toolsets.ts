import { delegateToolset } from './delegate.ts';
import { fanoutToolset } from './fanout.ts';
import { processToolset } from './process.ts';
import { sessionsToolset } from './sessions.ts';
import { slashToolset } from './slash/slash.ts';
import { tasksToolset } from './tasks.ts';
import type { Toolset } from './toolset.ts';
import { workflowToolset } from './workflow/workflow-toolset.ts';

/** The five vocabularies, and the task list beside them. */
export const ALL_TOOLSETS: readonly Toolset[] = [
  processToolset,
  slashToolset,
  fanoutToolset,
  sessionsToolset,
  delegateToolset,
  tasksToolset,
  workflowToolset,
];
