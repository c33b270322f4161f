import type { Agent, Tree } from '../../records/agent/agent.ts';
import type { Call } from '../../records/agent/state.ts';
import type { Resolved, ToolsetTool } from '../toolsets/toolset.ts';
import type { ToolsetTerms } from '../toolsets/toolset-terms.ts';
import type { TransitionContext } from '../transition/transition-result.ts';

/** Every agent that the process knows of, by tree: a snapshot, never a promise. */
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

/** The arguments of a call, or why they are not any. */
export type Arguments =
  | { readonly ok: true; readonly input: unknown }
  | { readonly ok: false; readonly error: string };

/** What a step may know beside its agent. Every question has the same answer however often it is asked, and asking changes nothing. */
export interface View {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** A uuid that nobody has, for each number from 0. */
  readonly id: (number: number) => string;
  readonly worker: string;
  readonly relatives: Relatives;
  readonly context: TransitionContext;
  /** Every tool of its toolsets by name, those that it does not see included. */
  readonly tools: ReadonlyMap<string, ToolsetTool>;
  readonly terms: ToolsetTerms;
  /** Letters of agents come as a notice that the agent may follow (seed 2). */
  readonly notices: boolean;
  /** Others lead agents of this tree too, so names must be looked up in the ledger. */
  readonly shared: boolean;
  /** Mail wakes this agent. */
  readonly hasMail: (agent: Agent) => boolean;
  /** Its queued run may begin now: not too many are at work. */
  readonly mayBegin: () => boolean;
  readonly argumentsOf: (call: Call) => Arguments;
}
