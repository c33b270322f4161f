const BROKEN = '\n\n[The answer was interrupted and starts again.]\n\n';

/** Sends text as it arrives; what is sent cannot be taken back. After a restart, text that repeats what was already sent is not sent again. */
export class StreamedText {
  readonly #send: (text: string) => void;
  #sent = '';
  #now = '';
  #compares = false;

  constructor(send: (text: string) => void) {
    this.#send = send;
  }

  add(text: string): void {
    this.#now += text;
    if (this.#compares) return this.#catchUp();
    this.#sent = this.#now;
    if (text !== '') this.#send(text);
  }

  /** The stream broke: the whole text follows again. */
  restart(): void {
    this.#now = '';
    this.#compares = true;
  }

  /** Ends the text, which is now known in full: sends what is missing. */
  finish(whole: string): void {
    this.#now = whole;
    this.#catchUp();
    this.forget();
  }

  /** Discards the text: the answer was abandoned, and the next text is unrelated. */
  forget(): void {
    [this.#sent, this.#now, this.#compares] = ['', '', false];
  }

  #catchUp(): void {
    if (this.#sent.startsWith(this.#now)) return;
    const follows = this.#now.startsWith(this.#sent);
    this.#send(follows ? this.#now.slice(this.#sent.length) : `${BROKEN}${this.#now}`);
    this.#sent = this.#now;
    this.#compares = false;
  }
}
