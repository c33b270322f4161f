import type { Agent, Tree } from '../../core/agent.ts';
import type { TransitionContext } from '../../core/transition-context.ts';
import type { Resolved, ToolsetTool } from '../../toolsets/toolset.ts';
import type { ToolsetTerms } from '../../toolsets/toolset-terms.ts';

/** Every agent that this process knows of, by tree: a snapshot, never a promise. */
export interface Relatives {
  agent(id: string): Agent | undefined;
  tree(root_id: string): Tree | undefined;
  members(root_id: string): readonly Agent[];
  children(id: string): readonly Agent[];
  livingChildren(id: string): number;
  /** From `agent` up to the root, itself first. */
  lineage(agent: Agent): readonly Agent[];
  /** Living descendants, the agent itself first. */
  subtree(agent: Agent): readonly Agent[];
  /** Uuid, unique prefix (≥ 4 characters) or name. */
  resolve(text: string, root_id: string): Resolved;
}

/** What a step may know beside its agent. */
export interface View {
  readonly now: number;
  readonly newId: () => string;
  readonly worker: string;
  readonly forest: Relatives;
  readonly context: TransitionContext;
  readonly toolsetTool: (name: string) => ToolsetTool | undefined;
  readonly terms: ToolsetTerms;
  /** Letters of agents come as a notice that the agent may follow (seed 2). */
  readonly notices: boolean;
  /** Mail wakes this agent. */
  readonly hasMail: (agent: Agent) => boolean;
  /** A background run may begin now: not too many are at work. Counts it as one of them when it answers yes. */
  readonly mayBegin: (agent: Agent) => boolean;
  /** Others lead agents of this tree too, so names must be looked up in the ledger. */
  readonly shared: boolean;
}
