import type { Agent, AgentConfig, Tree } from '../../records/agent/agent.ts';
import type { Call, ChildOutcome, SpawnedChild, WaitSpec } from '../../records/agent/state.ts';
import type { Mail } from '../../records/conversation/mail.ts';
import type { ToolSpec } from '../../records/tool.ts';
import type { Consequence } from '../transition/event.ts';
import type { Need, NeedAnswer } from './need.ts';
import type { ToolsetTerms } from './toolset-terms.ts';

/** How an id in a call was understood. */
export type Resolved =
  | { readonly found: 'one'; readonly agent: Agent }
  | { readonly found: 'many'; readonly candidates: readonly Agent[] }
  | { readonly found: 'none' };

/** What a toolset may know when it decodes a call: a snapshot, never a promise. */
export interface ToolsetView {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly newId: () => string;
  readonly self: Agent;
  readonly tree: Tree;
  /** Living children of `self`, those created earlier in the same step included. */
  readonly living_children: number;
  /** How many of them, or of the tree, rest and are not about to work: they hold no place (law 7). Counts one by one. */
  readonly resting: (among: 'children' | 'tree') => number;
  /** Uuid, unique prefix (≥ 4) or name of an agent of this tree. */
  readonly resolve: (text: string) => Resolved;
  /** From `agent` up to the root, itself first. */
  readonly lineage: (agent: Agent) => readonly Agent[];
  /** Living descendants of `agent`, itself first. */
  readonly subtree: (agent: Agent) => readonly Agent[];
  /** Seq of the assistant message that holds the call. */
  readonly message_seq: number;
  /** Who leads the new agents. */
  readonly worker: string | null;
  readonly terms: ToolsetTerms;
  /** Letters that wait for `self`, oldest first. */
  readonly letters: readonly Mail[];
  /** What the runtime found out for this call. */
  readonly answer: (need: Need) => NeedAnswer;
}

/** What a call comes down to. */
export type Decision =
  /** `spawned`: children whose results the turn must await before its next request. */
  | {
      readonly type: 'settle';
      readonly output: string;
      readonly consequences: readonly Consequence[];
      readonly spawned?: readonly SpawnedChild[];
    }
  | { readonly type: 'refuse'; readonly code: RefusalCode; readonly message: string }
  | { readonly type: 'park'; readonly wait: WaitSpec }
  /** The outcome of `child`, which `consequences` create, will be the result. */
  | { readonly type: 'delegate'; readonly child: string; readonly consequences: readonly Consequence[] };

export type RefusalCode =
  | 'INVALID_ARG'
  | 'AGENT_NOT_FOUND'
  | 'AGENT_AMBIGUOUS'
  | 'ALREADY_DEAD'
  | 'CANNOT_KILL_SELF'
  | 'CANNOT_KILL_PARENT'
  | 'CANNOT_KILL_ROOT'
  | 'NOT_A_DESCENDANT'
  | 'CANNOT_SEND_TO_SELF'
  | 'LIMIT_REACHED'
  | 'NESTING_FORBIDDEN'
  | 'NOT_AVAILABLE'
  | 'NO_PROFILE'
  | 'UNKNOWN_COMMAND'
  | 'WOULD_DEADLOCK'
  /** A fault in Coppice, not in the call. */
  | 'INTERNAL';

/**
 * One tool by which an agent works with other agents. `decode` is pure and does no I/O: the runtime commits what it
 * returns in the transaction that settles the call, so it happens exactly once.
 */
export interface ToolsetTool {
  readonly spec: ToolSpec;
  /** Texts in the input that name agents: the runtime looks them up before `decode`. Never throws. */
  readonly mentions: (input: unknown) => readonly string[];
  /** Creates agents: may share a step with other creations; any other call of the message waits for the commit. */
  readonly creates: boolean | ((input: unknown) => boolean);
  /** `decode` asks for a whole subtree. */
  readonly surveys: boolean;
  /** It looks at what the other calls of its message do, so it is decided after them, wherever it stands. */
  readonly comes_last?: true;
  readonly decode: (input: unknown, call: Call, view: ToolsetView) => Decision;
  /** Agents with this configuration see the tool; without it, all do. One that calls it unseen is answered by `decode`. */
  readonly audience?: (config: AgentConfig, terms: ToolsetTerms) => boolean;
  /** What the runtime must find out before `decode`. Never throws. */
  readonly needs?: (input: unknown, call: Call, self: Agent, terms: ToolsetTerms) => readonly Need[];
  /** For tools that end a child instead of being run: the outcome, or null when the arguments are not good, which `decode` then tells. */
  readonly submission?: (input: unknown, config: AgentConfig) => ChildOutcome | null;
}

export interface Toolset {
  readonly name: string;
  readonly tools: readonly ToolsetTool[];
  /** What the system prompt of agents in a conversation of a person's says about these tools; empty when the descriptions suffice. */
  readonly guidance: string;
  /** How letters of agents reach an agent that rests: whole, or as a notice that it may follow (seed 2). Default `whole`. */
  readonly letters?: 'whole' | 'notice';
}

export function refusalText(code: RefusalCode, message: string): string {
  return JSON.stringify({ error: { code, message } });
}

/** Why these toolsets cannot serve one agent, as a sentence; null when they can. */
export function toolsetClash(toolsets: readonly string[]): string | null {
  if (!toolsets.includes('process') || !toolsets.includes('slash')) return null;
  return 'an agent has the toolset process or slash, not both';
}
