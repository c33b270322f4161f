import type { Agent } from '../records/agent/agent.ts';
import type { Tool } from '../records/tool.ts';
import type { WorkflowTerms } from '../records/workflow/workflow-terms.ts';
import type { Model } from './model.ts';

/** What runs the scripts of workflows (docs/workflows.md); a runtime without one runs none. */
export interface WorkflowHost {
  /** The model of a run: its script. */
  readonly modelOf: (agent: Agent, terms: WorkflowTerms) => Promise<Model>;
  /** Loads a workflow that a script names: a saved one, or by its path one in the folder. Rejects with `E_SCRIPT`. */
  readonly load: (name: string, folder: string) => Promise<LoadedWorkflow>;
  /** The tool with which a run asks a person. */
  readonly ask: Tool;
}

export type LoadedWorkflow = Pick<WorkflowTerms, 'name' | 'description' | 'script'>;
