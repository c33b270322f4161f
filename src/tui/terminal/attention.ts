/** Resolves to what the terminal is to tell of it; empty: nothing any more; null: what it would tell anyway. */
export type Notify = (text: string, signal: AbortSignal) => Promise<string | null>;

/** Calls somebody who looks elsewhere: BEL and OSC 9, or what a script of the user's makes of them. */
export class Attention {
  focused = true;
  readonly #notify: Notify | null;
  readonly #write: (text: string) => void;
  readonly #ended = new AbortController();

  constructor(notify: Notify | null, write: (text: string) => void) {
    this.#notify = notify;
    this.#write = write;
  }

  /** `write` has to drop what comes while the terminal belongs to another program. */
  call(text: string): void {
    if (this.focused) return;
    if (this.#notify === null) return this.#ring(text);
    // Without an answer of the script, people are told in the usual way.
    void this.#notify(text, this.#ended.signal).then((said) => {
      if (said !== '') this.#ring(said ?? text);
    });
  }

  end(): void {
    this.#ended.abort();
  }

  #ring(text: string): void {
    // A digit at the start would select another command of OSC 9.
    this.#write(`\x07\x1b]9;${text.replaceAll(/\p{Cc}/gu, ' ').replace(/^(?=\d)/, ' ')}\x07`);
  }
}
