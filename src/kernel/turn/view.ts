import type { CreationRuling } from '../../permissions/refusal.ts';
import type { Agent, Meant, Tree } from '../../records/agent/agent.ts';
import type { AgentBudget } from '../../records/agent/budget.ts';
import type { Call } from '../../records/agent/state.ts';
import type { ToolSpec } from '../../records/tool.ts';
import type { ToolsetTool } from '../toolsets/toolset.ts';
import type { ToolsetTerms } from '../toolsets/toolset-terms.ts';
import type { TransitionContext } from '../transition/transition-result.ts';

/** Every agent that the process knows of, by tree. May be stale for agents that other processes lead. */
export interface Relatives {
  agent(id: string): Agent | undefined;
  tree(root_id: string): Tree | undefined;
  members(root_id: string): readonly Agent[];
  children(id: string): readonly Agent[];
  livingChildren(id: string): number;
  /** From `agent` up to the root, itself first. */
  lineage(agent: Agent): readonly Agent[];
  budget(id: string): AgentBudget | undefined;
  /** Living descendants, the agent itself first. */
  subtree(agent: Agent): readonly Agent[];
  /** Resolves a UUID, unique prefix (at least 4 characters) or name. */
  resolve(text: string, root_id: string): Meant;
}

/** The parsed arguments of a call, or why they are invalid. */
export type Arguments =
  | { readonly ok: true; readonly input: unknown }
  | { readonly ok: false; readonly error: string };

/** What a step may read besides its agent. Its functions have no side effects, and equal questions get equal answers. */
export interface View {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** A new uuid for each number from 0. */
  readonly id: (number: number, of?: 'agent') => string;
  readonly worker: string;
  readonly relatives: Relatives;
  readonly context: TransitionContext;
  /** Every tool of the agent's toolsets by name, including those hidden from it. */
  readonly tools: ReadonlyMap<string, ToolsetTool>;
  readonly terms: ToolsetTerms;
  /** The tool as the agent's model is sent it. */
  readonly sent: (spec: ToolSpec) => ToolSpec;
  /** Letters arrive as a notice, and are read with a command (docs/vocabularies.md). */
  readonly notices: boolean;
  /** Other processes lead agents of this tree too, so names must be looked up in the ledger. */
  readonly shared: boolean;
  /** Whether an agent has mail that wakes it; with `from_id`, an unread letter of that agent. */
  readonly hasMail: (agent: Agent, from_id?: string) => boolean;
  /** Agents that may wait for this one by its id; their states say whether they do. */
  readonly waitersOf: (id: string) => Iterable<string>;
  /** Whether the agent's queued run may begin now (`RunQueue`). */
  readonly mayBegin: () => boolean;
  /** What permission rules say about creating agents with this tool; null if they allow it. */
  readonly rulingOn: (tool: string) => CreationRuling | null;
  readonly argumentsOf: (call: Call) => Arguments;
}
