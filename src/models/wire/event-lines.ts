import { EVENT_MAX, UnusableAnswer } from '../provider/http-fetch.ts';

/** Decodes server-sent events from chunks of any size to their data. An event must end with an empty line. Throws `UnusableAnswer` for a huge one. */
export class EventLines {
  /** A line that has not ended yet, in pieces, so that a long one is not searched again for each. */
  #rest: string[] = [];
  #data: string | null = null;
  /** Characters of the event so far. */
  #size = 0;

  push(text: string, onData: (data: string) => void): void {
    this.#size += text.length;
    if (text.includes('\n')) {
      this.#rest.push(text);
      const all = this.#rest.length === 1 ? text : this.#rest.join('');
      this.#rest = [this.#lines(all, onData)];
    } else this.#rest.push(text);
    if (this.#size > EVENT_MAX)
      throw new UnusableAnswer(`an event of the answer exceeds ${EVENT_MAX} characters`);
  }

  /** Returns the line that has not ended. */
  #lines(all: string, onData: (data: string) => void): string {
    let from = 0;
    for (let end = all.indexOf('\n'); end >= 0; end = all.indexOf('\n', from)) {
      const stop = end > from && all.charCodeAt(end - 1) === 13 ? end - 1 : end;
      if (stop === from) this.#dispatch(all.length - end, onData);
      else if (all.startsWith('data:', from))
        this.#add(all.slice(all[from + 5] === ' ' ? from + 6 : from + 5, stop));
      from = end + 1;
    }
    return all.slice(from);
  }

  #add(data: string): void {
    this.#data = this.#data === null ? data : `${this.#data}\n${data}`;
  }

  #dispatch(left: number, onData: (data: string) => void): void {
    const data = this.#data;
    this.#data = null;
    this.#size = left;
    if (data !== null) onData(data);
  }
}
