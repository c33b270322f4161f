import type { Failure } from '../../records/agent/failure.ts';
import type { ModelOutcome } from '../model.ts';

/** Why nothing is sent, and until when, on the gate's clock. */
export interface Closed {
  readonly by: Failure;
  readonly until: number;
}

export type Course = 'give back' | 'try again' | 'slow down';

/** What an outcome means for the gate: the one place that decides it. `slow down` concerns all requests, `try again` only this one. */
export function courseOf(outcome: ModelOutcome): Course {
  if (outcome.type !== 'failure' || !outcome.failure.retryable) return 'give back';
  const { kind } = outcome.failure;
  if (kind === 'network') return 'try again';
  return kind === 'rate_limit' || kind === 'overloaded' ? 'slow down' : 'give back';
}

/** Whether a server still loads its model, as those on one's own machine do for minutes after their start. */
export function isLoading({ kind, error }: Failure): boolean {
  return kind === 'overloaded' && /\bloading\b/i.test(error);
}

const TROUBLE: Partial<Record<Failure['kind'], string>> = {
  network: 'the connection failed',
  rate_limit: 'the provider asked to slow down',
};

/** Why a request waits, and for how long, for people. */
export function waitText({ kind, error }: Failure, delay_ms: number, tries: string): string {
  const seconds = Math.round(delay_ms / 1_000);
  return `${TROUBLE[kind] ?? 'the provider has trouble'}: ${seconds} s${tries} (${error})`;
}

export function exhausted(
  outcome: Extract<ModelOutcome, { type: 'failure' }>,
  attempts: number,
): ModelOutcome {
  const { failure } = outcome;
  return { ...outcome, failure: { ...failure, error: `${failure.error} (gave up after ${attempts} tries)` } };
}
