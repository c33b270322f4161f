/** Decodes server-sent events from chunks of any size to their data. An event must end with an empty line. */
export class EventLines {
  #rest = '';
  #data: string | null = null;

  push(text: string, onData: (data: string) => void): void {
    const all = this.#rest + text;
    let from = 0;
    for (let end = all.indexOf('\n'); end >= 0; end = all.indexOf('\n', from)) {
      const stop = end > from && all.charCodeAt(end - 1) === 13 ? end - 1 : end;
      if (stop === from) this.#dispatch(onData);
      else if (all.startsWith('data:', from))
        this.#add(all.slice(all[from + 5] === ' ' ? from + 6 : from + 5, stop));
      from = end + 1;
    }
    this.#rest = all.slice(from);
  }

  #add(data: string): void {
    this.#data = this.#data === null ? data : `${this.#data}\n${data}`;
  }

  #dispatch(onData: (data: string) => void): void {
    const data = this.#data;
    this.#data = null;
    if (data !== null) onData(data);
  }
}
