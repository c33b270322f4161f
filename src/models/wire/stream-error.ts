import { fieldsOf, numberOf } from '../../records/text/json-fields.ts';
import type { JsonObject } from '../../records/text/json-text.ts';
import type { AnswerCollector } from '../provider/answer-collector.ts';
import { saidIn } from '../refusals/said-in.ts';

/** HTTP statuses of the error types that providers send in a stream, where there is no status. */
const STATUSES: readonly (readonly [RegExp, number])[] = [
  [/insufficient_quota|rate_limit|resource_exhausted/, 429],
  [/authentication|unauthenticated|invalid_api_key/, 401],
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
export function takeError(event: JsonObject, collector: AnswerCollector): void {
  const holder = fieldsOf(event.response ?? event);
  const error = holder.error ?? event;
  const message = saidIn(error) ?? 'the server reports an error, and does not say which';
  const { code, type, status } = fieldsOf(error);
  if (collector.begun) return collector.add({ type: 'error', error: { code, type, message } });
  const number = [code, status, event.code, event.status]
    .map(numberOf)
    .find((one) => one !== undefined && one >= 400 && one < 600);
  const kind = `${code ?? ''} ${type ?? ''} ${status ?? ''}`.toLowerCase();
  const found = STATUSES.find(([pattern]) => pattern.test(kind))?.[1] ?? number ?? 500;
  throw new RefusedInStream(message, found, JSON.stringify(event));
}
