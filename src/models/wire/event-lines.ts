import { EVENT_MAX, UnusableAnswer } from '../provider/http-fetch.ts';

/** `name`: what the field `event` says; empty without one. */
type OnEvent = (data: string, name: string) => void;

/**
 * Decodes server-sent events from chunks of any size, in lines that end with CR, LF or CR LF. A byte order mark, blank data and a missing empty line at the end cost no event. Throws
 * `UnusableAnswer` for a huge one.
 */
export class EventLines {
  readonly #onEvent: OnEvent;
  /** A line that has not ended yet, in pieces, so that a long one is not searched again for each. */
  #rest: string[] = [];
  #data: string | null = null;
  #name = '';
  /** Characters of the event so far. */
  #size = 0;
  /** The last character so far. */
  #last = '';

  constructor(onEvent: OnEvent) {
    this.#onEvent = onEvent;
  }

  push(chunk: string): void {
    // A byte order mark at the beginning, or the other half of a line end, which has ended its line already.
    const skips = this.#last === '' ? chunk.startsWith('\u{feff}') : this.#last === '\r' && chunk[0] === '\n';
    const own = skips ? chunk.slice(1) : chunk;
    const text = own.includes('\r') ? own.replaceAll(/\r\n?/g, '\n') : own;
    this.#last = chunk.at(-1) ?? this.#last;
    this.#size += text.length;
    if (text.includes('\n')) {
      this.#rest.push(text);
      const all = this.#rest.length === 1 ? text : this.#rest.join('');
      this.#rest = [this.#lines(all)];
    } else this.#rest.push(text);
    if (this.#size > EVENT_MAX)
      throw new UnusableAnswer(`an event of the answer exceeds ${EVENT_MAX} characters`);
  }

  /** The stream has ended: so has its last event. */
  end(): void {
    this.push('\n\n');
  }

  /** Returns the line that has not ended. */
  #lines(all: string): string {
    let from = 0;
    for (let end = all.indexOf('\n'); end >= 0; end = all.indexOf('\n', from)) {
      if (end === from) this.#dispatch(all.length - end);
      else if (all.startsWith('data:', from))
        this.#add(all.slice(all[from + 5] === ' ' ? from + 6 : from + 5, end));
      else if (all.startsWith('event:', from)) this.#name = all.slice(from + 6, end).trim();
      from = end + 1;
    }
    return all.slice(from);
  }

  #add(data: string): void {
    this.#data = this.#data === null ? data : `${this.#data}\n${data}`;
  }

  #dispatch(left: number): void {
    const [data, name] = [this.#data, this.#name];
    this.#data = null;
    this.#name = '';
    this.#size = left;
    if (data !== null && data.trim() !== '') this.#onEvent(data, name);
  }
}
