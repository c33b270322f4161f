import type { AgentConfig, Tree } from '../records/agent/agent.ts';
import type { NewAgent } from '../records/agent/new-agent.ts';
import type { AgentState } from '../records/agent/state.ts';
import type { Usage } from '../records/agent/usage.ts';
import type { NewAsk } from '../records/conversation/ask.ts';
import type { Mail, NewMail } from '../records/conversation/mail.ts';
import type { Message } from '../records/conversation/message.ts';
import type { NewDelivery } from '../records/run/delivery.ts';

/**
 * One advance of one agent by its lease holder: all of it or nothing. Guards, in this order:
 * 1. `stale`: the agent's epoch is `epoch`, its `last_seq` is `base_seq`, it is not terminal (law 8). Of a step without messages, which
 *    leaves `last_seq` as it was, also: it is not the very one that was applied last, and nothing that it creates or sends is there.
 * 2. `limit`: the tree's and the agent's budgets admit `create` (law 7).
 * 3. `recipient`: every letter's recipient exists in the same tree and is not terminal, or is created by this very step.
 * 4. `consumed`: every letter in `consume` is addressed to this agent and still pending (law 6).
 * 5. `cycle`: `waits_for` closes no cycle of wait-for edges that all last as long as the one that closes it (law 10).
 * 6. `target`: every agent in `kill` is a descendant; already terminal ones are skipped.
 */
export interface Step {
  readonly agent_id: string;
  readonly epoch: number;
  readonly base_seq: number;
  readonly at: number;
  readonly state: AgentState;
  /** Replaces the agent's configuration; without it that stays. */
  readonly config?: AgentConfig;
  /** They take the seqs `base_seq + 1…` in order. */
  readonly messages: readonly Message[];
  readonly create: readonly NewAgent[];
  readonly send: readonly NewMail[];
  /** Ids of letters taken into the conversation, each with the seq of the message that carries it. */
  readonly consume: readonly { readonly mail_id: string; readonly seq: number }[];
  /** Each with all its living descendants (law 9). */
  readonly kill: readonly string[];
  /** Replaces the agent's wait-for edges; null leaves them. */
  readonly waits_for: readonly string[] | null;
  /** When they end by themselves, by agent, milliseconds since the epoch; those not in here never do. */
  readonly waits_until: Readonly<Record<string, number>>;
  /** Model requests that ended in this step. */
  readonly requests: readonly RequestRecord[];
  /** Tool calls that settled in this step. */
  readonly calls: number;
  readonly doing: string | null;
  readonly reply: string | null;
  readonly sent_this_turn: boolean;
  /** As in `Agent.noticed`. */
  readonly noticed: number;
  /**
   * Children whose conversations go: rows of the agent, its messages, mail and requests. Only terminal children of this agent
   * that have no children of their own; others are left alone. Their rows in the run history stay.
   */
  readonly remove: readonly string[];
  /** What people are asked from now on, and what they need not answer any more. */
  readonly asks: readonly NewAsk[];
  readonly void_asks: readonly string[];
  /** What people outside are told (`delivery.ts`). */
  readonly deliver: readonly NewDelivery[];
}

/** Usage of one model request, kept for good. */
export interface RequestRecord {
  readonly model: string;
  readonly usage: Usage;
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
  | { readonly reason: 'recipient'; readonly agent_id: string; readonly found: 'unknown' | 'dead' }
  | { readonly reason: 'consumed'; readonly mail_id: string }
  /** Ids along the cycle, beginning and ending with the waiter. */
  | { readonly reason: 'cycle'; readonly path: readonly string[] }
  | { readonly reason: 'target'; readonly agent_id: string };

export type Verdict =
  | {
      readonly ok: true;
      /** Every agent that this step killed, descendants included. */
      readonly killed: readonly string[];
      /** Letters as stored, with their numbers, in the order of `send`. */
      readonly sent: readonly Mail[];
      /** Of those that `waits_for` names anew: who had come to rest or ended before, so that nobody tells of them any more. */
      readonly met: readonly string[];
      /** The tree after the step. */
      readonly tree: Tree;
    }
  | { readonly ok: false; readonly refusal: Refusal };
