import { createParser, type EventSourceParser } from 'eventsource-parser';
import { EVENT_MAX, UnusableAnswer } from '../provider/http-fetch.ts';

/**
 * Decodes server-sent events from chunks of any size, in lines that end with CR, LF or CR LF. A byte order mark, blank data and a missing empty line at the
 * end cost no event, and a line that is an object of JSON is one: some servers send nothing else. Throws `UnusableAnswer` for a huge one.
 */
export class EventLines {
  readonly #parser: EventSourceParser;
  /** The last character so far. */
  #last = '';

  /** `name`: what the field `event` says; empty without one. */
  constructor(onEvent: (data: string, name: string) => void) {
    this.#parser = createParser({
      maxBufferSize: EVENT_MAX,
      onEvent: ({ data, event = '' }) => {
        if (data.trim() !== '') onEvent(data, event.trim());
      },
      onError: ({ type, line }) => {
        if (type === 'unknown-field' && line?.startsWith('{') === true) onEvent(line, '');
        if (type === 'max-buffer-size-exceeded')
          throw new UnusableAnswer(`an event of the answer exceeds ${EVENT_MAX} characters`);
      },
    });
  }

  push(chunk: string): void {
    // A byte order mark at the beginning, or the other half of a line end, for which nothing waits.
    const skips = this.#last === '' ? chunk.startsWith('\u{feff}') : this.#last === '\r' && chunk[0] === '\n';
    const own = skips ? chunk.slice(1) : chunk;
    this.#last = chunk.at(-1) ?? this.#last;
    this.#parser.feed(own.includes('\r') ? own.replaceAll(/\r\n?/g, '\n') : own);
  }

  /** The stream has ended: so has its last event. */
  end(): void {
    this.push('\n\n');
  }
}
