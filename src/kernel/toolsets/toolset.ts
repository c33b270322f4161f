import type { Agent, AgentConfig, Meant, Tree } from '../../records/agent/agent.ts';
import type { Left } from '../../records/agent/budget.ts';
import type { PlannedAgents } from '../../records/agent/estimate.ts';
import type { Call, ChildOutcome, SpawnedChild, WaitSpec } from '../../records/agent/state.ts';
import type { Worktree } from '../../records/agent/task-terms.ts';
import type { Mail } from '../../records/conversation/mail.ts';
import type { TaskOrder } from '../../records/run/listed-task.ts';
import type { ToolSpec } from '../../records/tool.ts';
import type { Consequence } from '../transition/event.ts';
import type { ToolsetTerms } from './toolset-terms.ts';

/** What a toolset can see while decoding a call: a snapshot that may be outdated by the commit. */
export interface ToolsetView {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly newId: (of?: 'agent') => string;
  readonly self: Agent;
  readonly tree: Tree;
  /** Living children of `self`, including those created earlier in the same step. */
  readonly living_children: number;
  /** Number of children, or of agents of the tree, that rest without waking mail or must queue, and so do not count towards limits (law 7). O(n). */
  readonly resting: (among: 'children' | 'tree') => number;
  /** Number of agents of the tree that scripts of workflows have created: no limit of the tree counts them. O(n). */
  readonly scripted: () => number;
  /** Resolves a UUID, unique prefix (at least 4 characters) or name of an agent of this tree. */
  readonly resolve: (text: string) => Meant;
  /** From `agent` up to the root, itself first. */
  readonly lineage: (agent: Agent) => readonly Agent[];
  /** Children of `agent` that are known, also those that have ended. */
  readonly children: (agent: Agent) => readonly Agent[];
  /** Living descendants of `agent`, itself first. */
  readonly subtree: (agent: Agent) => readonly Agent[];
  /** Seq of the assistant message with the call. */
  readonly message_seq: number;
  /** Worker that leads new agents. */
  readonly worker: string | null;
  readonly terms: ToolsetTerms;
  /** The tool as the model of `self` is sent it. */
  readonly sent: (spec: ToolSpec) => ToolSpec;
  /** What `self` may still spend or give away. */
  readonly left: () => Left;
  /** Unread mail of `self`, oldest first. */
  readonly letters: readonly Mail[];
  readonly answer: (need: Need) => NeedAnswer;
}

/** Outcome of decoding a call. */
export type Decision =
  /** `spawned`: children whose results the turn must await before its next request. */
  | {
      readonly type: 'settle';
      readonly output: string;
      readonly consequences: readonly Consequence[];
      readonly spawned?: readonly SpawnedChild[];
      /** Text by the caller that other agents will read, but not as mail. */
      readonly said?: string;
      /** Set if the output says that nothing was done: why. */
      readonly refused?: string;
    }
  | { readonly type: 'refuse'; readonly code: RefusalCode; readonly message: string }
  | { readonly type: 'park'; readonly wait: WaitSpec }
  /** The outcome of `child`, created by `consequences`, will be the result. */
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
  /** An error in Coppice, not in the call. */
  | 'INTERNAL';

/**
 * One tool for working with other agents. `decode` is pure: the runtime commits what it returns in the transaction that settles the
 * call, so it takes effect exactly once.
 */
export interface ToolsetTool {
  readonly spec: ToolSpec;
  /** Whether it takes these arguments as they are; others are read as they are meant (docs/tool-calls.md). */
  readonly fits: (input: unknown) => boolean;
  /** Agent references in the input, which the runtime resolves before `decode`; none by default. Never throws. */
  readonly mentions?: (input: unknown) => readonly string[];
  /** Whether the tool creates agents; by default not. May share a step with other such calls; all other calls of the message wait for the commit. */
  readonly creates?: true | ((input: unknown) => boolean);
  /** Set if `decode` reads a whole subtree. */
  readonly surveys?: true;
  /** Set if it depends on the effects of the other calls of its message, so that it is decoded after them, regardless of order. */
  readonly comes_last?: true;
  readonly decode: (input: unknown, call: Call, view: ToolsetView) => Decision;
  /** Whether agents with this configuration see the tool; absent: all do. Calls by others still go to `decode`. */
  readonly audience?: (config: AgentConfig, terms: ToolsetTerms) => boolean;
  /** What the runtime must look up before `decode`. Never throws. */
  readonly needs?: (input: unknown, call: Call, self: Agent, terms: ToolsetTerms) => readonly Need[];
  /** For tools that end a child instead of running: the outcome; null for invalid arguments, which `decode` then reports. */
  readonly submission?: (input: unknown, config: AgentConfig) => ChildOutcome | null;
}

export interface Toolset {
  readonly name: string;
  readonly tools: readonly ToolsetTool[];
  /** Added to the system prompt of agents in a person's conversation; empty if the tools' descriptions suffice. */
  readonly guidance: string;
  /** How mail from agents reaches a resting agent: the whole text, or a notice. Default `whole`. */
  readonly letters?: 'whole' | 'notice';
}

export function refusalText(code: RefusalCode, message: string): string {
  return JSON.stringify({ error: { code, message } });
}

/** Why these toolsets cannot be combined, as a sentence; null if they can. */
export function toolsetClash(toolsets: readonly string[]): string | null {
  if (!toolsets.includes('process') || !toolsets.includes('slash')) return null;
  return 'an agent can have the toolset process or slash, but not both';
}

/** External information that decoding a call depends on. The runtime looks it up first. */
export type Need =
  /** Whether the model can be used. */
  | { readonly type: 'model'; readonly name: string }
  /** A folder inside `base`; `text` of the answer is its canonical path. */
  | { readonly type: 'folder'; readonly base: string; readonly path: string }
  /** A text file inside `base` that the agent may read; `text` of the answer is its content. */
  | { readonly type: 'file'; readonly base: string; readonly path: string }
  /** The ledger's decision on an order for the shared task list. */
  | { readonly type: 'tasks'; readonly call_id: string; readonly order: TaskOrder }
  /** Whether the call may create these agents. Answer: an empty text if it may, the question for a person, or an error that says why not. */
  | {
      readonly type: 'creation';
      readonly call: Pick<Call, 'id' | 'name'>;
      readonly planned: readonly PlannedAgents[];
    }
  /** A saved workflow; `text` of the answer is its name, description and script as JSON. */
  | { readonly type: 'workflow'; readonly base: string; readonly name: string }
  /** What an earlier run has for a call; `text` of the answer is an `EarlierCall` as JSON, or `null`. A worktree is that of its agent, or a new one. */
  | {
      readonly type: 'earlier';
      readonly run: string;
      /** Instead of looking for the call: the agent of it that is run again. */
      readonly agent?: string;
      /** `name`: of a workflow, otherwise empty. */
      readonly call: Readonly<Record<'key' | 'name' | 'label', string>> & { readonly phase: string | null };
      readonly worktree: { readonly base: string; readonly id: string } | null;
    }
  /** A git worktree of the repository around `base`, named by `id`. */
  | { readonly type: 'worktree'; readonly base: string; readonly id: string };

/** A need that is looked up outside the ledger. */
export type WorldNeed = Exclude<Need, { readonly type: 'tasks' | 'creation' }>;

export type NeedAnswer =
  | { readonly ok: true; readonly text: string; readonly worktree?: Worktree }
  | { readonly ok: false; readonly error: string };

export function needKey(need: Need): string {
  if (need.type === 'creation') return creationKey(need.call);
  return JSON.stringify(need);
}

/** Key of the only `creation` need of a call; two calls of a message may share an id. */
export function creationKey({ id, name }: Pick<Call, 'id' | 'name'>): string {
  return `creation ${name} ${id}`;
}
