/**
 * Why a turn, a run or a call failed. A closed list, so that every interface can print and match it.
 * `retryable` failures may be repeated by a person (`resume`) without changing anything first.
 */
export type FailureKind =
  | 'auth' // the provider refused the key
  | 'no_credit' // the account behind the key has no credit left
  | 'rate_limit' // 429 until the retries ran out
  | 'overloaded' // 5xx until the retries ran out
  | 'network' // no connection, or a stream that kept breaking
  | 'context_overflow' // the conversation no longer fits the model
  | 'refused' // the model declined, or a content filter blocked the answer
  | 'cut' // the output limit cut off the answer and its continuation
  | 'empty' // two empty answers in a row
  | 'bad_request' // the provider rejected the request itself
  | 'no_model' // unknown model, or no key for it
  | 'no_tools' // the model or its server takes no tools, or not these
  | 'limit' // a limit of the tree
  | 'repeated_failure' // the same call failed three times in a row
  | 'timed_out'
  | 'cancelled'
  | 'killed'
  | 'interrupted' // somebody stopped the turn; the agent rests
  | 'sub_agent_error' // the child reported that it cannot do the task
  | 'no_result' // the child stopped without submitting
  | 'no_evidence' // the child did not provide the evidence that its profile requires
  | 'script' // the script of a workflow failed
  | 'lost' // the process that ran it is gone and it cannot be resumed
  | 'quarantined' // processes died repeatedly while running its calls
  | 'internal';

export interface Failure {
  readonly kind: FailureKind;
  readonly error: string;
  readonly retryable: boolean;
  /** Number of messages in the request after the one that the provider refused; absent if the provider names none. */
  readonly behind_refused?: number;
}

/** Whether the content of the conversation caused the failure, so that retrying it unchanged fails again. */
export function isAboutContent(kind: FailureKind): boolean {
  return kind === 'bad_request' || kind === 'context_overflow' || kind === 'refused' || kind === 'internal';
}

/** What of a provider has run out: its answers are the same for every request until then. */
export type Spent =
  /** Too much was used for some time. */
  | 'quota'
  /** The account has to be topped up. */
  | 'credit'
  /** The key is refused. */
  | 'key'
  /** The provider does not have the model, or no longer. */
  | 'model'
  /** Nothing is known to have: nobody answers there, or it is too busy for anybody. */
  | 'service'
  /** Nothing: a person has paused or stopped the workflow that the agent works for. */
  | 'person';

/** A request that waits in the ledger, because the provider takes none, or because a person has said so. The turn's clock is stopped meanwhile. */
export interface Pause {
  readonly spent: Spent;
  /** Which provider, model and key are meant. Processes with the same key write the same; it tells nothing of the key. */
  readonly door: string;
  /** What is waited for, for people: `anthropic's quota`. */
  readonly text: string;
  /** What the provider said. */
  readonly failure: Failure;
  /** When it is tried again, milliseconds since the epoch; a step of the clock does not move it. Null: when a person says so. */
  readonly opens_at: number | null;
  /** Number of tries since the provider, which named no time, took the last request. */
  readonly tries: number;
  /** Since when the agent waits, milliseconds since the epoch. */
  readonly at: number;
  /** When the provider was asked last; none: when the agent began to wait. */
  readonly told_at?: number;
}
