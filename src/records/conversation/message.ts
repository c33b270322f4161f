/**
 * What a conversation is made of. Rows `(agent, seq, kind, content)`, append-only; `content` is one of the
 * shapes below, chosen by `kind`. Kinds `capture` and `event` are for people and never reach a model
 * (see `prompt.ts`, the one filter).
 */

/** Provider-private data that must travel back unchanged (signatures of reasoning blocks, item ids). */
export type ProviderMetadata = Record<string, Record<string, unknown>>;

export interface TextPart {
  readonly type: 'text';
  readonly text: string;
  readonly metadata?: ProviderMetadata;
}

export interface ReasoningPart {
  readonly type: 'reasoning';
  readonly text: string;
  readonly metadata?: ProviderMetadata;
}

/** One tool call as the model wrote it; `input` is the raw JSON text and may be invalid. */
export interface CallPart {
  readonly type: 'call';
  readonly id: string;
  readonly name: string;
  readonly input: string;
  readonly metadata?: ProviderMetadata;
}

export type AssistantPart = TextPart | ReasoningPart | CallPart;

export interface Image {
  /** IANA media type, e.g. `image/png`. */
  readonly media_type: string;
  readonly base64: string;
}

/** `human`: typed by a person. `mail`: letters from agents. `system`: written by the runtime. `identity`: tells a
 * fork who it is. `task`: what an agent in a fresh conversation is to do. */
export type UserOrigin = 'human' | 'mail' | 'system' | 'identity' | 'task';

export interface UserContent {
  readonly origin: UserOrigin;
  readonly text: string;
  readonly images?: readonly Image[];
}

export interface AssistantContent {
  /** `provider/model` that wrote it: metadata of one provider is never sent to another. */
  readonly model: string;
  readonly parts: readonly AssistantPart[];
  /**
   * `length`: cut at the output limit. `refused`: the model or a filter declined. `interrupted`: somebody stopped it, and this text had come. Not there
   * for an answer that is whole.
   */
  readonly finish?: 'length' | 'refused' | 'interrupted';
  /** The provider's own word for it. */
  readonly reason?: string;
}

/** `interrupted`: the process died while the call ran, its outcome is unknown. `cancelled`: stopped on purpose. */
export type ResultStatus = 'ok' | 'error' | 'denied' | 'interrupted' | 'cancelled';

export interface ResultContent {
  readonly call_id: string;
  readonly name: string;
  readonly status: ResultStatus;
  readonly output: string;
  readonly images?: readonly Image[];
}

export interface EventContent {
  readonly event:
    | 'forked'
    | 'killed'
    | 'interrupted'
    | 'error'
    | 'retried'
    | 'limit'
    | 'notice'
    | 'asked'
    | 'answered'
    | 'waited'
    /** A message before it is not sent to a model any more: the one with so many `behind` it, or the one that models saw last (`prompt.ts`). */
    | 'left-out';
  readonly text: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** What a person captured; the first and the last row of a capture are marks without text. */
export interface CaptureContent {
  readonly text: string;
  readonly mark?: 'begun' | 'ended';
}

export type Message =
  | { readonly kind: 'user'; readonly content: UserContent }
  | { readonly kind: 'assistant'; readonly content: AssistantContent }
  | { readonly kind: 'result'; readonly content: ResultContent }
  | { readonly kind: 'event'; readonly content: EventContent }
  | { readonly kind: 'capture'; readonly content: CaptureContent };

/** A message at its place: `seq` counts from 1 without gaps along the composed history of one agent (law 11). */
export type PlacedMessage = Message & {
  readonly agent_id: string;
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
};
