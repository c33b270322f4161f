import type { Agent } from '../core/agent.ts';
import type { TransitionContext } from '../core/transition-context.ts';
import type { ToolsetTool } from '../toolsets/toolset.ts';
import type { ToolsetTerms } from '../toolsets/toolset-terms.ts';
import type { Forest } from './forest.ts';

/** What a fold may know beside the cell. */
export interface FoldSurroundings {
  readonly now: number;
  readonly newId: () => string;
  readonly worker: string;
  readonly forest: Forest;
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
