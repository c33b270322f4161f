type Piece = readonly [type: 'text' | 'reasoning', text: string];

/** Splits a text that begins with `<TAG>…</TAG>` into the thought and the text after it, however it is cut into pieces. */
export class ThoughtTag {
  readonly #open: string;
  readonly #close: string;
  #place: 'before' | 'within' | 'after' = 'before';
  /** What may be the beginning of a tag. */
  #held = '';

  constructor(tag: string) {
    this.#open = `<${tag}>`;
    this.#close = `</${tag}>`;
  }

  split(piece: string): readonly Piece[] {
    const text = this.#held + piece;
    this.#held = '';
    if (this.#place === 'after') return [['text', text]];
    if (this.#place === 'before') {
      const begun = text.trimStart();
      if (begun.length < this.#open.length && this.#open.startsWith(begun)) {
        this.#held = text;
        return [];
      }
      this.#place = begun.startsWith(this.#open) ? 'within' : 'after';
      return this.split(this.#place === 'within' ? begun.slice(this.#open.length) : text);
    }
    const end = text.indexOf(this.#close);
    if (end >= 0) {
      const after = text.slice(end + this.#close.length).trimStart();
      // Blank lines after a thought may come in pieces.
      if (after !== '') this.#place = 'after';
      else this.#held = this.#close;
      return [['reasoning', text.slice(0, end)], ...(after === '' ? [] : [['text', after] as const])];
    }
    const from = heldFrom(text, this.#close);
    this.#held = text.slice(from);
    return [['reasoning', text.slice(0, from)]];
  }

  /** What was held when the text ended. */
  rest(): readonly Piece[] {
    const held = this.#held === this.#close ? '' : this.#held;
    this.#held = '';
    return held === '' ? [] : [[this.#place === 'within' ? 'reasoning' : 'text', held]];
  }
}

/** Where the end of a text begins that may be the beginning of a tag. */
function heldFrom(text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length -= 1)
    if (tag.startsWith(text.slice(-length))) return text.length - length;
  return text.length;
}
