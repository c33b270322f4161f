/**
 * Why a turn, a run or a call failed. One closed list, so that every door can print and match it.
 * `retryable` failures may be repeated by a person (`resume`) without changing anything first.
 */
export type FailureKind =
  | 'auth' // the provider refused the key
  | 'no_credit' // the account behind the key has none left
  | 'rate_limit' // 429 until the retries ran out
  | 'overloaded' // 5xx until the retries ran out
  | 'network' // no connection, or a stream that kept breaking
  | 'context_overflow' // the conversation no longer fits the model
  | 'refused' // the model or a filter declined
  | 'cut' // the output limit cut the answer, and its continuation
  | 'empty' // the model answered with nothing, and again when told so
  | 'bad_request' // the provider rejected the request itself
  | 'no_model' // no model of that name, or no key for it
  | 'limit' // a limit of the tree
  | 'repeated_failure' // the same call failed three times in a row
  | 'timed_out'
  | 'cancelled'
  | 'killed'
  | 'sub_agent_error' // the child itself said that it cannot do the task (seed 3)
  | 'no_result' // the child stopped without submitting (seed 3)
  | 'lost' // the process that ran it is gone and nothing can be resumed
  | 'quarantined' // its process died again and again while a call of it ran
  | 'internal';

export interface Failure {
  readonly kind: FailureKind;
  readonly error: string;
  readonly retryable: boolean;
  /** How many messages of the request stood behind the one that its provider refused; absent where it names none. */
  readonly behind_refused?: number;
}

/** It is what the conversation holds that failed: as it is, it fails again. */
export function isAboutContent(kind: FailureKind): boolean {
  return kind === 'bad_request' || kind === 'context_overflow' || kind === 'refused' || kind === 'internal';
}
