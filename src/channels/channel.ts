/** Channels: the ways to people outside. This file is their contract; each channel has a folder or file beside it. */

import type { Ask } from '../records/conversation/ask.ts';
import type { DeliveryKind } from '../records/run/delivery.ts';
import type { Run } from '../records/run/run.ts';
import type { StatusWord } from '../render/agent-status.ts';

/** One delivery as a channel gets it, with the run or question that it reports. */
export interface Parcel {
  /** The same for every try, so that receivers can recognise a repeat. */
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
  /** What `saveProgress` stored in an earlier try; null at first. */
  readonly progress: string | null;
}

export type DeliverResult =
  | { readonly type: 'delivered' }
  /** `after_ms` where the receiver said when to retry. `error` is one sentence, without secrets. */
  | { readonly type: 'retry'; readonly error: string; readonly after_ms: number | null }
  /** Permanent: wrong address, refused. */
  | { readonly type: 'failed'; readonly error: string };

export interface DeliverContext {
  readonly signal: AbortSignal;
  /** Stored in the ledger before it resolves, so that a crash does not repeat what was sent. Rejects when the claim was lost. */
  readonly saveProgress: (progress: string) => Promise<void>;
}

/**
 * The contract, which test/channels/contract.ts checks for every channel:
 * - `check` does no I/O: null for an address that can be delivered to, else one sentence on what is wrong and what to do.
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

/** A channel through which people also write to agents and answer questions. One process at a time listens on it (`Store.takeSeat`). */
export interface InboundChannel extends Channel {
  /** Whether messages would be accepted now: one request, no message. Never throws; no secret in the text. */
  probe(signal: AbortSignal): Promise<{ readonly ok: boolean; readonly text: string }>;
  /** Receives what people write until the signal aborts. Never rejects: failures are logged and retried. */
  listen(sessions: ChatSessions, signal: AbortSignal): Promise<void>;
}

/** A channel's own notes in the ledger, by key: where it stopped reading, which message it is editing. */
export interface ChannelMemory {
  get(key: string): Promise<string | null>;
  /** Null deletes it. */
  set(key: string, value: string | null): Promise<void>;
}

/** One line for the server's log. `fields` never hold secrets or what people wrote. */
export type ChannelLog = (
  level: 'debug' | 'info' | 'warn' | 'error',
  text: string,
  fields?: Readonly<Record<string, unknown>>,
) => void;

/** What happens in the session of a chat, live; it is not stored. */
export type ChatEvent =
  /** A turn of the session's agent began. */
  | { readonly type: 'began'; readonly chat: string; readonly agent_id: string }
  /** The model's answer so far; empty when a new answer begins. */
  | { readonly type: 'text'; readonly chat: string; readonly agent_id: string; readonly text: string }
  /** What the agent is doing, for people ("bash: npm test"). */
  | {
      readonly type: 'doing';
      readonly chat: string;
      readonly agent_id: string;
      readonly doing: string | null;
    }
  /** The turn ended; its reply is in the outbox. */
  | { readonly type: 'ended'; readonly chat: string; readonly agent_id: string };

/** An agent in a list for people. */
export interface AgentLine {
  readonly id: string;
  readonly name: string;
  readonly depth: number;
  readonly status: StatusWord;
  readonly doing: string | null;
}

/**
 * What the people of a channel can do with agents: each chat, by its address, has one session (a root agent and its descendants) and reaches no
 * other. Methods reject with a `CoppiceError` that may be shown to them.
 */
export interface ChatSessions {
  readonly memory: ChannelMemory;
  /** Sends text to the chat's session, which begins with it if there is none. Idempotent by `id`. */
  say(
    chat: string,
    message: { readonly id: string; readonly from: string; readonly text: string },
  ): Promise<void>;
  /** Ends the session; the next message begins a new one. False: there was none. */
  renew(chat: string): Promise<boolean>;
  /** The root agent first, then its living descendants. */
  agents(chat: string): Promise<readonly AgentLine[]>;
  /** By uuid, unique prefix (at least 4 characters) or name; with its descendants. Killing the root agent ends the session. */
  kill(chat: string, agent: string): Promise<{ readonly name: string; readonly descendants: number }>;
  /** Interrupts the turn of the root agent; false when it was not working. */
  interrupt(chat: string): Promise<boolean>;
  /** Open questions of the session and of runs that are delivered to this chat, oldest first. */
  asks(chat: string): Promise<readonly Ask[]>;
  /** By id or unique prefix (at least 4 characters). Rejects with `E_ASK_NOT_FOUND`, `E_ASK_ANSWERED`. */
  answer(
    chat: string,
    ask: string,
    answer: {
      readonly verdict: 'allow' | 'deny';
      readonly scope: 'once' | 'agent';
      readonly note: string;
      readonly by: string;
      /** Of the form of a question. */
      readonly values?: Readonly<Record<string, string>>;
    },
  ): Promise<Ask>;
  /** Calls `listener` with what happens in the sessions of this channel; returns what unsubscribes it. */
  watch(listener: (event: ChatEvent) => void): () => void;
}
