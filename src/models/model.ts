import type { Failure, Pause, Spent } from '../records/agent/failure.ts';
import type { Usage } from '../records/agent/usage.ts';
import type { AssistantContent } from '../records/conversation/message.ts';
import type { PromptMessage } from '../records/conversation/prompt-message.ts';
import type { ToolSpec } from '../records/tool.ts';
import type { ModelHost } from './model-host.ts';
import type { Closing } from './refusals/spent.ts';

export type Thinking = 'off' | 'low' | 'medium' | 'high';

export interface ModelRequest {
  readonly system: string;
  /** Oldest first; every call answered exactly once (law 5). */
  readonly messages: readonly PromptMessage[];
  readonly tools: readonly ToolSpec[];
  readonly thinking: Thinking;
  /** How many leading messages are shared with related agents (fork point); 0 if none. A cache breakpoint is set after them. */
  readonly shared_prefix: number;
  /** The same for all agents with a common prefix (the tree): the provider's cache key, and the key by which trees take turns. At most 64 characters. */
  readonly cache_key?: string;
  readonly signal: AbortSignal;
  /**
   * Whether the agent waits in the ledger while the provider takes no requests, for this reason. Without it, the request is sent in any case, and fails as any
   * other. `soon`: it is tried again by itself.
   */
  readonly parks?: (spent: Spent, soon: boolean) => boolean;
  /** Why it is not to be sent now, although its provider may take it; asked again when it has a slot. */
  readonly bars?: () => Barred | null;
  /** Whether it has waited in the ledger. */
  readonly is_paused?: boolean;
  /** Whether a person wants it tried now, although the provider takes no requests. */
  readonly insists?: boolean;
  /** Whether it begins a turn: it is tried although the provider takes no requests, unless a time was named. */
  readonly begins?: boolean;
  /** Called when its provider, which took no requests, takes it. */
  readonly onTaken?: () => void;
  /** Called after a request has tried a closed provider; null: it is open, or the next one may try. */
  readonly onTried?: (doors: readonly string[], still: Barred | null) => void;
  /** That nothing is left of its budget, in words; said to scripts only, which may end, and start nothing more. */
  readonly used_up?: string | undefined;
  /** The requesting agent; matched by the scripted model, ignored by real providers. */
  readonly agent: { readonly id: string; readonly name: string; readonly parent_id: string | null };
  /** Called with what people should know about the request. */
  readonly onNotice?: (text: string) => void;
  /** Called when an answer begins, also a refusal: with its status and headers, which state the provider's limits. */
  readonly onHeaders?: (
    status: number,
    headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  ) => void;
  /** For models that are agent programs and act by themselves (`acp:NAME`); others ignore it. */
  readonly host?: ModelHost;
}

/** The provider takes no requests; `wait_ms`: until it is tried again, null: when a person says so. */
export type Barred = Omit<Pause, 'at' | 'told_at' | 'opens_at'> & { readonly wait_ms: number | null };

/** What the ledger says of a provider; `age_ms`: since when. */
export type Told = Barred & { readonly age_ms: number };

export type ModelDelta =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'call'; readonly id: string; readonly name: string }
  /** The stream broke and is retried from the start: discard all deltas of this request. */
  | { readonly type: 'restart'; readonly reason: string }
  /** The request waits (rate limit, retry, queue) for `delay_ms`, or (null) until another one ends; for people, carries no content. */
  | { readonly type: 'waiting'; readonly reason: string; readonly delay_ms: number | null }
  /** It has a slot, and waits no longer. */
  | { readonly type: 'sent' };

export type ModelOutcome =
  | {
      readonly type: 'answer';
      readonly content: AssistantContent;
      readonly usage: Usage;
      /** `length`: cut at the output limit; its calls are still whole. */
      readonly finish: 'stop' | 'calls' | 'length' | 'refused';
      /** The provider's own finish reason. */
      readonly reason?: string;
    }
  /** `retry_after_ms`: the wait that the provider requests, if any. `partial`: text that arrived before the failure. */
  | {
      readonly type: 'failure';
      readonly failure: Failure;
      readonly retry_after_ms?: number;
      /** Set if every other request would get the same answer. */
      readonly closes?: Closing;
      /** Set if the request can wait until the provider takes requests again. */
      readonly barred?: Barred;
      readonly partial?: string;
    }
  | { readonly type: 'aborted'; readonly partial?: string };

/** A model object of the AI SDK: `LanguageModelV3` or `LanguageModelV4` of `@ai-sdk/provider`, such as `openai('gpt-5')`. */
export interface SdkModel {
  readonly specificationVersion: 'v3' | 'v4';
  readonly provider: string;
  readonly modelId: string;
  doStream(options: never): PromiseLike<object>;
}

/**
 * One language model. The contract:
 * - `stream` never throws and never rejects; every way to fail is a `failure` outcome.
 * - It resolves exactly once, after the last delta. After `signal` aborts it resolves `aborted` within 100 ms.
 * - An answer is given only for a whole stream: a known finish reason and no error part. No call of an
 *   incomplete stream is ever returned.
 * - `onDelta` is called synchronously, in order; its content is provisional until the answer arrives.
 */
export interface Model {
  /** `provider/model`. */
  readonly id: string;
  /** Context window in tokens, input plus output; null if unknown. */
  readonly context_window: number | null;
  /** Whether its usage includes cost, which a cost limit requires. */
  readonly tells_cost: boolean;
  /** Whether it has no price and runs on this machine or network: the default limits of a tree do not bind it. */
  readonly is_free?: boolean;
  /** Whether the provider charges less for a prefix once the first answer to a request with that prefix has begun. */
  readonly caches_prefixes?: boolean;
  /** Whether its provider takes no requests now. */
  closed?(): boolean;
  /** Tells it what the ledger says of its provider. */
  learnClosed?(told: Told): void;
  stream(request: ModelRequest, onDelta: (delta: ModelDelta) => void): Promise<ModelOutcome>;
  /** What holds its requests back: how many are at work and wait, how many at once are sent, and what was learnt of the provider, in words. */
  readonly gate?: {
    readonly load: { readonly at_work: number; readonly waiting: number; readonly limit: number };
    readonly learnt: string;
  };
  /** Closes processes and connections that the model keeps. Never rejects. */
  close?(): Promise<void>;
}
