import type { AnswerCollector } from '../provider/answer-collector.ts';
import type { Json } from './wire-protocol.ts';

/** HTTP statuses of the error types that providers send in a stream, where there is no status. */
const STATUSES: readonly (readonly [RegExp, number])[] = [
  [/insufficient_quota|rate_limit/, 429],
  [/authentication/, 401],
  [/permission/, 403],
  [/not_found/, 404],
  [/too_large/, 413],
  [/billing|invalid|bad_request|context_length/, 400],
  [/overloaded_error/, 529],
  [/overload/, 503],
];

/** An error at the start of a stream: equivalent to a refused request with the status of its type. */
export class RefusedInStream extends Error {
  override readonly name = 'RefusedInStream';
  readonly status: number;
  readonly body: string;

  constructor(message: string, status: number, body: string) {
    super(message);
    this.status = status;
    this.body = body;
  }
}

/** Handles a provider's error in a stream. Throws `RefusedInStream` if nothing preceded it; otherwise adds the error to the collector. */
export function takeError(event: Json, spoken: boolean, collector: AnswerCollector): void {
  const holder = (event.response ?? event) as Json;
  const error = (holder.error ?? event) as Json;
  if (spoken || typeof error.message !== 'string') return collector.add({ type: 'error', error });
  const kind = `${error.code ?? ''} ${error.type ?? ''}`.toLowerCase();
  const status = STATUSES.find(([pattern]) => pattern.test(kind))?.[1] ?? 500;
  throw new RefusedInStream(error.message, status, JSON.stringify(event));
}
