import type { Agent, Tree } from '../core/agent.ts';
import type { Consequence } from '../core/event.ts';
import type { Call, WaitSpec } from '../core/state.ts';
import type { ToolSpec } from '../tools/tool-spec.ts';

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
}

/** What a call comes down to. */
export type Decision =
  | { readonly type: 'settle'; readonly output: string; readonly consequences: readonly Consequence[] }
  | { readonly type: 'refuse'; readonly code: RefusalCode; readonly message: string }
  | { readonly type: 'park'; readonly wait: WaitSpec };

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
  | 'WOULD_DEADLOCK';

/**
 * One tool by which an agent works with other agents. `decode` is pure and does no I/O: the runtime commits what it
 * returns in the transaction that settles the call, so it happens exactly once.
 */
export interface ToolsetTool {
  readonly spec: ToolSpec;
  /** Texts in the input that name agents: the runtime looks them up before `decode`. Never throws. */
  readonly mentions: (input: unknown) => readonly string[];
  /** Creates agents: may share a step with other creations; any other call of the message waits for the commit. */
  readonly creates: boolean;
  /** `decode` asks for a whole subtree. */
  readonly surveys: boolean;
  readonly decode: (input: unknown, call: Call, view: ToolsetView) => Decision;
}

export interface Toolset {
  readonly name: string;
  readonly tools: readonly ToolsetTool[];
  /** What the system prompt says about these tools; empty when the descriptions suffice. */
  readonly guidance: string;
}

export function refusalText(code: RefusalCode, message: string): string {
  return JSON.stringify({ error: { code, message } });
}
