import type { EventDocument } from '../../documents/shapes/event-documents.ts';
import { sleep } from '../../processes/waiting.ts';
import type { CoppiceError } from '../../records/coppice-error.ts';
import { base, type ClientOptions, errorOf, pauseBefore, queryOf, unreachable } from './client-request.ts';

export interface EventsOptions {
  /** Only events of this tree, including its conversations. */
  readonly tree?: string | undefined;
  /** Only events of this agent, including its live text. */
  readonly agent?: string | undefined;
  /** Id of the last event that was read; the stream resumes after it. */
  readonly after?: string | undefined;
  /** Ends the iteration when aborted. */
  readonly signal?: AbortSignal | undefined;
}

export type ClientEvent = EventDocument & { readonly id: string };

/** Longest silence on a connection; the server sends something every fifteen seconds. */
const SILENCE_MS = 45_000;
const FIRST_TRIES = 5;

/**
 * Follows `GET /v1/events`, reconnecting as needed. The first event is `resync`: load what you need then, and again at each later `resync`.
 * Ends with `signal`; throws a `CoppiceError` if the server refuses the request, or cannot be reached at the beginning.
 */
export async function* clientEvents(
  client: ClientOptions,
  { tree, agent, after, signal = new AbortController().signal }: EventsOptions = {},
): AsyncGenerator<ClientEvent, void, void> {
  let last = after;
  let failed = 0;
  let connected = false;
  while (!signal.aborted) {
    const connection = new AbortController();
    let error: CoppiceError | null = null;
    try {
      const response = await fetch(`${base(client)}/v1/events${queryOf({ tree, agent })}`, {
        headers: {
          authorization: `Bearer ${client.token}`,
          ...(last === undefined ? {} : { 'last-event-id': last }),
        },
        signal: AbortSignal.any([connection.signal, signal]),
      });
      if (!response.ok || response.body === null)
        error = errorOf(await response.json().catch(() => null), response.status);
      else {
        connected = true;
        failed = 0;
        for await (const event of eventsIn(response.body, () => connection.abort())) {
          last = event.id;
          yield event;
        }
      }
    } catch (cause) {
      error = unreachable(client, cause);
    } finally {
      connection.abort();
    }
    if (signal.aborted) return;
    if (error !== null && (!error.retryable || (!connected && failed + 1 >= (client.tries ?? FIRST_TRIES))))
      throw error;
    await sleep(pauseBefore(failed), signal);
    failed += 1;
  }
}

async function* eventsIn(body: ReadableStream<Uint8Array>, leave: () => void): AsyncGenerator<ClientEvent> {
  // Imported for the first events: most commands read none.
  const { createParser } = await import('eventsource-parser');
  const decoder = new TextDecoder();
  const events: ClientEvent[] = [];
  const parser = createParser({
    onEvent: ({ data, id = '' }) => events.push({ ...(JSON.parse(data) as EventDocument), id }),
  });
  let silence = setTimeout(leave, SILENCE_MS);
  try {
    for await (const piece of body) {
      clearTimeout(silence);
      silence = setTimeout(leave, SILENCE_MS);
      parser.feed(decoder.decode(piece, { stream: true }));
      yield* events.splice(0);
    }
  } finally {
    clearTimeout(silence);
  }
}
