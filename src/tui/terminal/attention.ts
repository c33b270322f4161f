/** Resolves to the text for the terminal to show; empty: the terminal stays silent; null: it shows `text`. */
export type Notify = (text: string, signal: AbortSignal) => Promise<string | null>;

/** Calls a person while the terminal does not have the focus: by BEL and OSC 9, or as a script of the user's decides. */
export class Attention {
  focused = true;
  readonly #notify: Notify | null;
  readonly #write: (text: string) => void;
  readonly #ended = new AbortController();

  constructor(notify: Notify | null, write: (text: string) => void) {
    this.#notify = notify;
    this.#write = write;
  }

  /** Does nothing while the terminal has the focus. `write` must drop output while the terminal belongs to another program. */
  call(text: string): void {
    if (this.focused) return;
    if (this.#notify === null) return this.#ring(text);
    // If the script fails, the person is called in the usual way.
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
