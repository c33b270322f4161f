import type { AgentConfig, Tree } from '../records/agent/agent.ts';
import type { AgentBudget } from '../records/agent/budget.ts';
import type { AgentState } from '../records/agent/state.ts';
import type { Usage } from '../records/agent/usage.ts';
import type { NewAsk } from '../records/conversation/ask.ts';
import type { Mail, NewMail } from '../records/conversation/mail.ts';
import type { Message } from '../records/conversation/message.ts';
import type { NewDelivery } from '../records/run/delivery.ts';
import type { NewAgent } from '../records/run/new-agent.ts';
import type { Outcome } from '../records/run/outcome.ts';

/**
 * One atomic advance of an agent by its lease holder, applied completely or not at all. Guards, in this order (docs/ledger.md):
 * 1. `stale`: the agent's epoch is `epoch`, its `last_seq` is `base_seq`, it is not terminal, and its tree is not being removed (law 8). A step without
 *    messages does not change `last_seq`, so it also must not be the step that was applied last, and what it creates, sends or asks must not exist.
 * 2. `limit`, `budget`: the limits of the tree and the agent, and the budgets above it, admit `create` (law 7).
 * 3. `recipient`: every recipient of mail exists in the same tree and is not terminal, or is created by this step.
 * 4. `consumed`: all mail in `consume` is addressed to this agent and unread (law 6).
 * 5. `cycle`: `waits_for` closes no cycle of wait-for edges that all last at least as long as the closing one (law 10).
 * 6. `target`: every agent in `kill` is a descendant; terminal ones are skipped.
 */
export interface Step {
  readonly agent_id: string;
  readonly epoch: number;
  readonly base_seq: number;
  readonly at: number;
  readonly state: AgentState;
  /** Replaces the agent's configuration, if present. */
  readonly config?: AgentConfig;
  /** Appended with the seqs `base_seq + 1…`. */
  readonly messages: readonly Message[];
  readonly create: readonly NewAgent[];
  readonly send: readonly NewMail[];
  /** Mail added to the conversation, each with the seq of the message that contains it. */
  readonly consume: readonly { readonly mail_id: string; readonly seq: number }[];
  /** Killed with all their living descendants (law 9). */
  readonly kill: readonly string[];
  /** Replaces the agent's wait-for edges; null keeps them. */
  readonly waits_for: readonly string[] | null;
  /** Deadlines of these waits by agent, milliseconds since the epoch; a wait without one has no end. */
  readonly waits_until: Readonly<Record<string, number>>;
  /** By how much deadlines of waits moved with the clock: an edge that only moved is not a new one. */
  readonly moved_ms?: number;
  /** Model requests that ended in this step. */
  readonly requests: readonly RequestRecord[];
  /** Agents whose budgets `requests` are charged to, nearest first; absent: none. */
  readonly payers?: readonly string[];
  /** Calls that got their result in this step. */
  readonly calls: number;
  /** How its run ended. */
  readonly outcome?: Outcome;
  readonly doing: string | null;
  readonly reply: string | null;
  readonly sent_this_turn: boolean;
  /** As in `Agent.noticed`. */
  readonly noticed: number;
  /**
   * Children to delete: the agent's row, messages, mail and requests; its run history stays. Only terminal children of this agent
   * without children of their own; others are ignored.
   */
  readonly remove: readonly string[];
  /** New approvals to ask people for, and pending ones to withdraw. */
  readonly asks: readonly NewAsk[];
  readonly void_asks: readonly string[];
  /** Messages to people outside (`records/run/delivery.ts`). */
  readonly deliver: readonly NewDelivery[];
}

/** The lists of a step under construction, mutable. */
export type StepLists = {
  readonly [Name in keyof Step as Step[Name] extends readonly unknown[]
    ? Name
    : never]: Step[Name] extends readonly (infer Item)[] ? Item[] : never;
};

/** Usage of one model request; kept permanently. */
export interface RequestRecord {
  readonly model: string;
  readonly usage: Usage;
  /** Set if the default limits of a tree do not count it (`Model.is_free`). */
  readonly is_free?: true;
  readonly started_at: number;
  readonly duration_ms: number;
}

export type Refusal =
  | { readonly reason: 'stale' }
  | {
      readonly reason: 'limit';
      readonly limit: 'depth' | 'children' | 'live' | 'total';
      readonly allowed: number;
      readonly present: number;
    }
  /** The budgets of new agents exceed what is left above them. `budgets`: those on their path. */
  | { readonly reason: 'budget'; readonly budgets: ReadonlyMap<string, AgentBudget> }
  | { readonly reason: 'recipient'; readonly agent_id: string; readonly found: 'unknown' | 'dead' }
  | { readonly reason: 'consumed'; readonly mail_id: string }
  /** Ids along the cycle, starting and ending with the waiter. */
  | { readonly reason: 'cycle'; readonly path: readonly string[] }
  | { readonly reason: 'target'; readonly agent_id: string };

export type Verdict =
  | {
      readonly ok: true;
      /** All agents that the step killed, descendants included. */
      readonly killed: readonly string[];
      /** Mail as stored, with numbers, in the order of `send`. */
      readonly sent: readonly Mail[];
      /** Targets newly in `waits_for` that were already at rest or terminal: no later commit will wake the waiter for them. */
      readonly met: readonly string[];
      readonly tree: Tree;
      /** Budgets on the agent's path, and of agents that it created, after the step. */
      readonly budgets: ReadonlyMap<string, AgentBudget>;
    }
  | { readonly ok: false; readonly refusal: Refusal };
