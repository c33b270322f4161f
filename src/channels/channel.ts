/** The contract of channels, which are the ways to people outside; each channel has a folder or file beside this one. */

import type { Agent } from '../records/agent/agent.ts';
import type { Ask } from '../records/conversation/ask.ts';
import type { DeliveryKind, Told } from '../records/run/delivery.ts';
import type { Run } from '../records/run/run.ts';
import type { StatusWord } from '../render/agent-status.ts';

/** A delivery as it is passed to a channel, with the run or question that it reports. */
export interface Parcel extends Told {
  /** Delivery id, the same for every try, so that receivers can recognise a repeat. */
  readonly id: string;
  readonly kind: DeliveryKind;
  /** The target without the name of the channel: a chat id, the name of a webhook or a file; empty for `stdout`. */
  readonly address: string;
  /** Markdown as models write it; never empty. */
  readonly text: string;
  /** The agent that replies, asks, or made the run. */
  readonly agent_id: string;
  readonly root_id: string;
  readonly run: Run | null;
  readonly ask: Ask | null;
  /** Milliseconds since the epoch. */
  readonly created_at: number;
  /** 1 for the first try. */
  readonly attempt: number;
  /** Progress that `saveProgress` stored in an earlier try; null at first. */
  readonly progress: string | null;
}

export type DeliverResult =
  | { readonly type: 'delivered' }
  /** `after_ms`: how long the receiver asked to wait; null if it did not say. `error` is one sentence, without secrets. */
  | { readonly type: 'retry'; readonly error: string; readonly after_ms: number | null }
  /** Permanent failure, such as a wrong address or a refusal. */
  | { readonly type: 'failed'; readonly error: string };

export interface DeliverContext {
  readonly signal: AbortSignal;
  /** Stores progress in the ledger before it resolves, so that a retry does not repeat what was sent. Rejects when the claim was lost or the try aborted. */
  readonly saveProgress: (progress: string) => Promise<void>;
}

/**
 * The contract, which test/channels/contract.ts checks for every channel:
 * - `check` does no I/O and returns null for an address that can be delivered to, else one sentence on what is wrong and what to do.
 * - `deliver` never throws, ends within its own time limit, and resolves soon after its signal aborts (with `retry`).
 * - A parcel counts as delivered only when the other side has acknowledged all of it.
 * - No error contains a secret (token, signing key).
 * - Parcels may be delivered concurrently.
 */
export interface Channel {
  /** The part of a target before the colon. */
  readonly name: string;
  check(address: string): string | null;
  deliver(parcel: Parcel, context: DeliverContext): Promise<DeliverResult>;
  close(): Promise<void>;
}

/** A channel through which people also write to agents and answer questions. Only one process at a time listens on it (`Store.takeSeat`). */
export interface InboundChannel extends Channel {
  /** Checks with one request whether messages would be accepted now; sends no message. Never throws; `text` contains no secret. */
  probe(signal: AbortSignal): Promise<{ readonly ok: boolean; readonly text: string }>;
  /** Receives what people write until the signal aborts. Never rejects: failures are logged and retried. */
  listen(sessions: ChatSessions, signal: AbortSignal): Promise<void>;
}

/** Key-value store of a channel in the ledger, for example for its read offset and the message that it is editing. */
export interface ChannelMemory {
  get(key: string): Promise<string | null>;
  set(key: string, value: string | null): Promise<void>;
}

/** One line for the server's log. `fields` never hold secrets or what people wrote. */
export type ChannelLog = (
  level: 'debug' | 'info' | 'warn' | 'error',
  text: string,
  fields?: Readonly<Record<string, unknown>>,
) => void;

/** Live event in the session of a chat; not stored. */
export type ChatEvent =
  /** A turn of the session's agent began. */
  | { readonly type: 'began'; readonly chat: string; readonly agent_id: string }
  /** The model's answer so far; empty when a new answer begins. */
  | { readonly type: 'text'; readonly chat: string; readonly agent_id: string; readonly text: string }
  /** Activity of the agent, as shown to people ("bash: npm test"). */
  | {
      readonly type: 'doing';
      readonly chat: string;
      readonly agent_id: string;
      readonly doing: string | null;
    }
  /** The turn ended; its reply is in the outbox. */
  | { readonly type: 'ended'; readonly chat: string; readonly agent_id: string };

/** An agent in a list for people. */
export interface AgentLine extends Pick<Agent, 'id' | 'name' | 'depth' | 'doing'> {
  readonly status: StatusWord;
}

/**
 * Operations on agents for the people of a channel. Each chat, identified by its address, has one session (a root agent and its descendants) and
 * reaches no other. Methods reject with a `CoppiceError` whose message may be shown to these people.
 */
export interface ChatSessions {
  readonly memory: ChannelMemory;
  /** Sends text to the chat's session; begins a session if there is none. Idempotent by `id`. */
  say(
    chat: string,
    message: { readonly id: string; readonly from: string; readonly text: string },
  ): Promise<void>;
  /** Ends the session; the next message begins a new one. Returns false if there was none. */
  renew(chat: string): Promise<boolean>;
  /** The root agent first, then its living descendants. */
  agents(chat: string): Promise<readonly AgentLine[]>;
  /** Kills an agent, given by UUID, unique prefix (at least 4 characters) or name, and its descendants. Killing the root agent ends the session. */
  kill(chat: string, agent: string): Promise<{ readonly name: string; readonly descendants: number }>;
  /** Interrupts the turn of the root agent; false when it was not working. */
  interrupt(chat: string): Promise<boolean>;
  /** Open questions of the session and of runs that are delivered to this chat, oldest first. */
  asks(chat: string): Promise<readonly Ask[]>;
  /** Answers a question as `findAsk` finds it; beyond `once`, the rule that is proposed is granted. Rejects as `answerApproval` does. */
  answer(
    chat: string,
    ask: string,
    answer: {
      readonly verdict: 'allow' | 'deny';
      readonly scope: 'once' | 'agent';
      readonly note: string;
      readonly by: string;
      /** Field values, for a question with a form. */
      readonly values?: Readonly<Record<string, string>> | undefined;
    },
  ): Promise<Ask>;
  /** Subscribes `listener` to events in the sessions of this channel; returns a function that unsubscribes it. */
  watch(listener: (event: ChatEvent) => void): () => void;
}
