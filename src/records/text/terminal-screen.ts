/** Lines of the screen; what scrolls off its top can no longer be rewritten. */
const ROWS = 50;
/** Maximum bytes of a line that can be rewritten, and of an unfinished sequence that waits for its end. */
const ROW_BYTES = 8192;
const SEQUENCE_BYTES = 1024 * 1024;
/** Parameters and name of a control sequence; any other sequence, a string until its line ends at the latest; a control character; text. */
const TOKENS =
  /\x1b\[([0-?]*)[ -/]*([@-~])|\x1b(?:[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[ -/]*[0-~]?)|[\x01-\x08\x0b-\x1f\x7f]|[^\x01-\x08\x0b-\x1f\x7f]+/g;
const UNFINISHED = /\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b\n]*\x1b?|[ -/]*)$/;
/** Most sequences and returns change nothing on the screen. */
const WITHOUT_EFFECT = /\x1b\[[\d;:]*m|\r(?=\n)/g;
/** A character of UTF-8, or a byte that belongs to none. */
const CELLS = /[\xc0-\xff][\x80-\xbf]*|[\s\S]/g;

/**
 * What a terminal would show at the end, without colours: `\r`, backspaces and cursor movements rewrite what is on the screen. Bytes come and go as `latin1`, so
 * that those that are not UTF-8 stay as they are. Memory is bounded, however much passes.
 */
export class TerminalScreen {
  #rows: string[][] = [[]];
  #row = 0;
  #column = 0;
  #unfinished = '';
  #done = '';

  /** Returns what can no longer be rewritten. */
  push(bytes: string): string {
    const text = this.#unfinished + bytes;
    const rest = UNFINISHED.exec(text)?.[0] ?? '';
    this.#unfinished = rest.length > SEQUENCE_BYTES ? '' : rest;
    const whole = text.slice(0, text.length - rest.length).replaceAll(WITHOUT_EFFECT, '');
    for (const [token, parameters = '', name] of whole.matchAll(TOKENS)) {
      if (name !== undefined) this.#move(name, parameters.split(';').map(Number));
      else if (token === '\r') this.#column = 0;
      else if (token === '\b') this.#column = Math.max(0, this.#column - 1);
      else if (token >= ' ' || /^[\0\t\n]/.test(token)) this.#write(token);
    }
    if (this.#here.length > ROW_BYTES) this.#release(this.#row + 1);
    const done = this.#done;
    this.#done = '';
    return done;
  }

  /** Returns the rest. */
  end(): string {
    return this.#rows.map((cells) => cells.join('')).join('\n');
  }

  get #here(): string[] {
    return this.#rows[this.#row] as string[];
  }

  #release(rows: number): void {
    const below = this.#rows.splice(rows);
    this.#done += this.end() + (below.length > 0 ? '\n' : '');
    this.#rows = below.length > 0 ? below : [[]];
    // If the cursor's own line was released, that goes on.
    if (this.#row < rows) this.#column = 0;
    this.#row = Math.max(0, this.#row - rows);
  }

  #write(text: string): void {
    let end = text.length;
    for (let rows = 0; rows < ROWS && end > 0; rows += 1) end = text.lastIndexOf('\n', end - 1);
    if (end <= 0 && text.lastIndexOf('\n') < text.length - ROW_BYTES) end = text.length - ROW_BYTES;
    if (end > 0 && this.#row === this.#rows.length - 1 && this.#column === this.#here.length) {
      // This scrolls off at once, or is a line too long to be rewritten.
      this.#done += `${this.end()}${text.slice(0, end + 1)}`;
      [this.#rows, this.#row, this.#column] = [[[]], 0, 0];
    } else end = -1;
    for (const cell of text.slice(end + 1).match(CELLS) ?? []) {
      if (cell !== '\n') {
        while (this.#here.length < this.#column) this.#here.push(' ');
        // Not the rest of a character that was cut between two chunks.
        if (cell < '\x80' || cell >= '\xc0' || this.#column === 0) this.#here[this.#column++] = cell;
        else this.#here[this.#column - 1] += cell;
        continue;
      }
      [this.#row, this.#column] = [this.#row + 1, 0];
      if (this.#row === this.#rows.length) this.#rows.push([]);
      if (this.#rows.length > ROWS) this.#release(1);
    }
  }

  #move(name: string, [first = 0, second = 0]: readonly number[]): void {
    const at = this.#column;
    const by = Math.min(first || 1, ROW_BYTES);
    const column = {
      C: at + by,
      D: at - by,
      E: 0,
      F: 0,
      G: by - 1,
      H: (second || 1) - 1,
      f: (second || 1) - 1,
    };
    this.#column = Math.min(Math.max(0, column[name as 'C'] ?? at), ROW_BYTES);
    if ('AF'.includes(name)) this.#row = Math.max(0, this.#row - by);
    if ('BE'.includes(name)) this.#row = Math.min(this.#rows.length - 1, this.#row + by);
    if ('Hf'.includes(name)) this.#row = Math.min(by, ROWS) - 1;
    while (this.#rows.length <= this.#row) this.#rows.push([]);
    if (name === 'J' && first === 2) [this.#rows, this.#row] = [[[]], 0];
    if (name === 'J' && first === 0) this.#rows.length = this.#row + 1;
    const cells = this.#here;
    if ('JK'.includes(name) && first === 0) cells.length = Math.min(at, cells.length);
    if (name === 'K' && first === 1) cells.fill(' ', 0, at + 1);
    if (name === 'K' && first === 2) cells.length = 0;
  }
}
