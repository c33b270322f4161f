const BROKEN = '\n\n[The answer broke off; it begins anew.]\n\n';

/**
 * Text that is sent as it arrives and cannot be taken back. Where a stream begins anew, what was sent before is not sent again as long as the new text
 * is the same.
 */
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

  /** The stream broke: what follows is the whole text again. */
  restart(): void {
    this.#now = '';
    this.#compares = true;
  }

  /** The text is known: what is missing of it is sent. */
  finish(whole: string): void {
    this.#now = whole;
    this.#catchUp();
    this.forget();
  }

  /** The answer was given up: the next text is another one. */
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
