import type { Ask } from '../records/conversation/ask.ts';
import type { DeliveryKind } from '../records/run/delivery.ts';
import type { Run } from '../records/run/run.ts';
import type { StatusWord } from '../render/agent-status.ts';

/** One delivery as a channel gets it, with everything that it tells of. */
export interface Parcel {
  /** The same for every try: whoever receives it can tell a repeat by it. */
  readonly id: string;
  readonly kind: DeliveryKind;
  /** The target without the name of the channel: a chat id, the name of a webhook or a file; empty for `stdout`. */
  readonly address: string;
  /** What to say, Markdown as models write it. Never empty. */
  readonly text: string;
  /** Whose: for `reply` and `ask`, the agent; for `run`, the agent of the run. */
  readonly agent_id: string;
  readonly root_id: string;
  readonly run: Run | null;
  readonly ask: Ask | null;
  /** Milliseconds since the epoch. */
  readonly created_at: number;
  /** 1 for the first try. */
  readonly attempt: number;
  /** What `saveProgress` kept in an earlier try; null at first. */
  readonly progress: string | null;
}

export type DeliverResult =
  | { readonly type: 'delivered' }
  /** Worth another try; `after_ms` where the other side said when. `error` is one sentence, without secrets. */
  | { readonly type: 'retry'; readonly error: string; readonly after_ms: number | null }
  /** No try will ever help: wrong address, refused. */
  | { readonly type: 'failed'; readonly error: string };

export interface DeliverContext {
  readonly signal: AbortSignal;
  /** Kept in the ledger before it resolves: what was sent so far need not be sent again after a crash. Rejects when the claim was lost. */
  readonly saveProgress: (progress: string) => Promise<void>;
}

/**
 * A way to people outside. The contract (test/channels/contract.ts holds for all):
 * - `check` is cheap and does no I/O: null for an address that can be delivered to, else one sentence: what is wrong and what to do.
 * - `deliver` never throws, ends within its own time limit, and resolves soon after its signal aborts (with `retry`).
 * - A parcel counts as delivered only when the other side has acknowledged all of it.
 * - No secret (token, signing key) stands in an error.
 * - Two parcels may be delivered at once.
 */
export interface Channel {
  /** The part of a target before the colon. */
  readonly name: string;
  check(address: string): string | null;
  deliver(parcel: Parcel, context: DeliverContext): Promise<DeliverResult>;
  close(): Promise<void>;
}

/** A channel by which people also write to agents. One process at a time listens on it (`Store.takeSeat`). */
export interface InboundChannel extends Channel {
  /** Whether the other side would take what is sent now: one question, nothing is sent to people. Never throws; no secret in the text. */
  probe(signal: AbortSignal): Promise<{ readonly ok: boolean; readonly text: string }>;
  /** Takes what people write, until the signal aborts; resolves then. Never rejects: troubles are logged and tried again. */
  listen(desk: ChatDesk, signal: AbortSignal): Promise<void>;
}

/** What a channel keeps in the ledger for itself, by a name: where it stopped reading, which message it is editing. */
export interface ChannelMemory {
  get(key: string): Promise<string | null>;
  /** Null forgets it. */
  set(key: string, value: string | null): Promise<void>;
}

/** One line for the log of the server. `fields` never hold secrets or what people wrote. */
export type ChannelLog = (
  level: 'debug' | 'info' | 'warn' | 'error',
  text: string,
  fields?: Readonly<Record<string, unknown>>,
) => void;

/** What happens in the session of a chat, live only: nothing of it is kept for somebody who was not there. */
export type ChatEvent =
  /** A turn of the session's agent began. */
  | { readonly type: 'began'; readonly chat: string; readonly agent_id: string }
  /** All that the model has said so far in its present answer; empty when a new answer begins. */
  | { readonly type: 'text'; readonly chat: string; readonly agent_id: string; readonly text: string }
  /** What the agent does now, for people ("bash: npm test"); null when nothing can be said. */
  | {
      readonly type: 'doing';
      readonly chat: string;
      readonly agent_id: string;
      readonly doing: string | null;
    }
  /** The turn ended; its reply is in the outbox. */
  | { readonly type: 'ended'; readonly chat: string; readonly agent_id: string };

/** An agent as a list for people shows it. */
export interface AgentLine {
  readonly id: string;
  readonly name: string;
  readonly depth: number;
  readonly status: StatusWord;
  readonly doing: string | null;
}

/**
 * What the people of a channel may do with agents. `chat` is the address of a chat. Everything concerns the chat's own session and its
 * descendants only. Methods reject with a `CoppiceError` (stable `code`, a sentence, a `hint`) that may be shown as it is.
 */
export interface ChatDesk {
  readonly memory: ChannelMemory;
  /** Text for the chat's session; it begins with it where there is none. A message with an `id` that was taken before is not taken again. */
  say(
    chat: string,
    message: { readonly id: string; readonly from: string; readonly text: string },
  ): Promise<void>;
  /** The next message begins a fresh session; the present one is ended. False: there was none. */
  renew(chat: string): Promise<boolean>;
  /** The session's agent first, then its living descendants. */
  agents(chat: string): Promise<readonly AgentLine[]>;
  /** By uuid, unique prefix (at least 4 characters) or name; with all below it. Killing the session's own agent ends the session. */
  kill(chat: string, agent: string): Promise<{ readonly name: string; readonly descendants: number }>;
  /** Stops the turn of the session's agent; false when it was not at work. */
  interrupt(chat: string): Promise<boolean>;
  /** What waits for an answer: calls of the session and of runs that are delivered to this chat; oldest first. */
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
    },
  ): Promise<Ask>;
  /** Calls `listener` with what happens in the sessions of this channel's chats; returns what ends that. */
  watch(listener: (event: ChatEvent) => void): () => void;
}
