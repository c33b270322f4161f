import type { ResultFacts, UserFacts } from './facts/message-facts.ts';

/**
 * The messages of a conversation: append-only rows `(agent, seq, kind, content)`, where `kind` selects the shape of `content`.
 * The kinds `capture` and `event` are for people and never reach a model (`prompt.ts` is the one filter).
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
  /** How the call was read where that is not as it was written, with what was changed, for people. It ran so. */
  readonly read?: {
    readonly name: string;
    readonly input: string;
    readonly changes: readonly string[];
    /** What the model is told of it. */
    readonly note?: string;
  };
  readonly metadata?: ProviderMetadata;
}

export type AssistantPart = TextPart | ReasoningPart | CallPart;

export interface Image {
  /** IANA media type, e.g. `image/png`. */
  readonly media_type: string;
  readonly base64: string;
}

/** `human`: typed by a person. `mail`: mail from agents. `system`: written by the runtime. `identity`: tells a fork
 * who it is. `task`: the task of an agent in a fresh conversation. */
export type UserOrigin = 'human' | 'mail' | 'system' | 'identity' | 'task';

export interface UserContent {
  readonly origin: UserOrigin;
  readonly text: string;
  readonly images?: readonly Image[];
  readonly facts?: UserFacts;
}

export interface AssistantContent {
  /** The `provider/model` that wrote it: one provider's metadata is never sent to another. */
  readonly model: string;
  readonly parts: readonly AssistantPart[];
  /**
   * `length`: cut off at the output limit. `refused`: declined by the model or blocked by a filter. `interrupted`: stopped before its end; the parts
   * hold the text that had arrived. Absent for a complete answer.
   */
  readonly finish?: 'length' | 'refused' | 'interrupted';
  /** The provider's own finish reason. */
  readonly reason?: string;
  /** The provider's names for the answer and its model, tokens written to its cache, time to the first piece; never sent to a model. */
  readonly response?: Partial<Record<'id' | 'model', string> & Record<'cache_written' | 'first_ms', number>>;
}

/** `interrupted`: the process died while the call ran, its outcome is unknown. `cancelled`: stopped on purpose. */
export type ResultStatus = 'ok' | 'error' | 'denied' | 'interrupted' | 'cancelled';

/** The file that a call read or changed, for the runtime and for people; never sent to a model. */
export interface FileStamp {
  /** Absolute canonical path. */
  readonly path: string;
  /** Hash of the content that the agent has seen with this call. */
  readonly hash: string;
  /** Only for a change: hash of the previous content; null: there was no file. */
  readonly before?: string | null;
  /** Only for a change: first and last changed line in the new content, counted from 1, inclusive. */
  readonly lines?: readonly [first: number, last: number];
  /** Only for a change: the previous text, kept if it cannot be derived from earlier changes in the ledger, and for a sample of the others. */
  readonly base?: string;
}

export type FileUse = 'read' | 'changed';

/** Entry of a checkpoint for a file that the agent has seen; `use` is absent if only its ancestors saw it. */
export type FileMark = readonly [path: string, hash: string, use?: FileUse];

export interface ResultContent {
  readonly call_id: string;
  readonly name: string;
  readonly status: ResultStatus;
  readonly output: string;
  readonly images?: readonly Image[];
  readonly file?: FileStamp;
  /** For a delegated task: summary of what its agent actually did. Models read it after the output (`outputText`), which may be a document. */
  readonly did?: string;
  readonly facts?: ResultFacts;
}

/**
 * `left-out` removes an earlier message from prompts: the one followed by `behind` others, or by default the newest that models saw (`prompt.ts`). `elided`
 * shortens long tool results in prompts, `data` is an `Elision`; `checkpoint` replaces earlier messages by one, `data` is a `Checkpoint` (`checkpoint.ts`).
 */
export const EVENTS = [
  ...(['forked', 'killed', 'interrupted', 'error', 'retried', 'limit', 'notice'] as const),
  ...(['asked', 'answered', 'waited', 'left-out', 'elided', 'checkpoint'] as const),
] as const;

export interface EventContent {
  readonly event: (typeof EVENTS)[number];
  readonly text: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** Lines that a person captured. The first and last row of a capture are marks without text. */
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

/** A message with its position: `seq` counts from 1 without gaps along the composed history of an agent (law 11, docs/ledger.md). */
export type PlacedMessage = Message & {
  readonly agent_id: string;
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
};

/** All that a message says, as people search for it. */
export function messageText({ kind, content }: Message): string {
  if (kind === 'result') return content.output;
  if (kind !== 'assistant') return content.text;
  return content.parts
    .map((part) => (part.type === 'call' ? `${part.name} ${part.input}` : part.text))
    .join('\n');
}
