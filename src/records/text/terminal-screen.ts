/** Lines of the screen; what scrolls off its top can no longer be rewritten. */
const ROWS = 50;
/** Maximum bytes of a line that can be rewritten, and of an unfinished sequence that waits for its end. */
const ROW_BYTES = 8192;
const SEQUENCE_BYTES = 1024 * 1024;
/** Parameters and name of a control sequence, or any other sequence; control character; text. A string ends with its line at the latest. */
const TOKENS =
  /\x1b\[([0-?]*)[ -/]*([@-~])|\x1b(?:[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[ -/]*[0-~]?)|\xc2[\x80-\x9f]|([\x01-\x08\n-\x1f\x7f])|\xc2|[^\x01-\x08\n-\x1f\x7f\xc2]+/g;
const UNFINISHED = /(?:\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b\n]*\x1b?|[ -/]*)|\xc2)$/;
const PLAIN = /^[^\x01-\x08\x0b-\x1f\x7f\xc2]*$/;
/** A character of UTF-8, or a byte that belongs to none. */
const CELLS = /[\xc0-\xff][\x80-\xbf]*|[\s\S]/g;

/** A row as text or, once something in it was rewritten, as characters. */
type Row = string | string[];

/**
 * What a terminal would show at the end, without colours: `\r`, backspaces and cursor movements rewrite what is on the screen. Bytes come and go as `latin1`, so
 * that those that are not UTF-8 stay as they are. Memory is bounded, however much passes.
 */
export class TerminalScreen {
  #rows: Row[] = [''];
  #row = 0;
  /** Where the next character goes; null: at the end. */
  #column: number | null = null;
  #unfinished = '';
  #done = '';

  /** Returns what can no longer be rewritten. */
  push(bytes: string): string {
    if (this.#unfinished === '' && PLAIN.test(bytes)) this.#write(bytes);
    else {
      const text = this.#unfinished + bytes;
      const rest = UNFINISHED.exec(text)?.[0] ?? '';
      this.#unfinished = rest.length > SEQUENCE_BYTES ? '' : rest;
      // Most sequences and returns change nothing on the screen, and are removed at once.
      const whole = text.slice(0, text.length - rest.length).replaceAll(/\x1b\[[\d;:]*m|\r(?=\n)/g, '');
      if (PLAIN.test(whole)) this.#write(whole);
      else for (const token of whole.matchAll(TOKENS)) this.#take(token);
    }
    if (this.#here.length > ROW_BYTES) this.#release(this.#row + 1);
    const done = this.#done;
    this.#done = '';
    return done;
  }

  /** Returns the rest. */
  end(): string {
    return this.#rows.map(textOf).join('\n');
  }

  get #here(): Row {
    return this.#rows[this.#row] as Row;
  }

  #release(rows: number): void {
    this.#done += this.#rows.splice(0, rows).map(textOf).join('\n');
    this.#row -= rows;
    if (this.#rows.length > 0) this.#done += '\n';
    // A long line goes on.
    if (this.#row < 0) [this.#row, this.#column] = [0, null];
    if (this.#rows.length === 0) this.#rows = [''];
  }

  #take([whole, parameters = '', name, control]: RegExpExecArray): void {
    if (control === '\r') this.#column = 0;
    else if (control === '\b') this.#move('D', []);
    else if (control !== undefined) this.#write(/[\n\v\f]/.test(control) ? '\n' : '');
    else if (name !== undefined) this.#move(name, parameters.split(';').map(Number));
    else if (!/^(?:\x1b|\xc2[\x80-\x9f])/.test(whole)) this.#write(whole);
  }

  #write(text: string): void {
    let end = text.length;
    for (let rows = 0; rows < ROWS && end > 0; rows += 1) end = text.lastIndexOf('\n', end - 1);
    // What scrolls off at once.
    if (end > 0 && this.#column === null && this.#row === this.#rows.length - 1) {
      this.#done += `${this.end()}${text.slice(0, end + 1)}`;
      [this.#rows, this.#row] = [[''], 0];
    } else end = -1;
    text
      .slice(end + 1)
      .split('\n')
      .forEach((line, at) => {
        if (at > 0) {
          this.#row += 1;
          this.#column = this.#row < this.#rows.length ? 0 : null;
          if (this.#column === null) this.#rows.push('');
          if (this.#rows.length > ROWS) this.#release(1);
        }
        const row = this.#here;
        if (this.#column !== null || typeof row !== 'string') this.#put(line.match(CELLS) ?? []);
        else this.#rows[this.#row] = row + line;
      });
  }

  #put(characters: readonly string[]): void {
    const cells = this.#cells();
    let at = this.#column ?? cells.length;
    if (characters.length > 0) while (cells.length < at) cells.push(' ');
    for (const one of characters) {
      // The rest of a character that was cut between two chunks.
      if (one >= '\x80' && one < '\xc0' && at > 0) cells[at - 1] += one;
      else cells[at++] = one;
    }
    this.#column = at;
  }

  #cells(): string[] {
    const row = this.#here;
    const cells = typeof row === 'string' ? (row.match(CELLS) ?? []) : row;
    this.#rows[this.#row] = cells;
    return cells;
  }

  #move(name: string, [first = 0, second = 0]: readonly number[]): void {
    if (!'ABCDEFGHJKf'.includes(name)) return;
    const cells = this.#cells();
    const at = this.#column ?? cells.length;
    const by = Math.min(first || 1, ROWS * 10);
    const to = { C: at + by, D: at - by, E: 0, F: 0, G: by - 1, H: (second || 1) - 1, f: (second || 1) - 1 };
    this.#column = Math.min(Math.max(0, to[name as 'C'] ?? at), ROW_BYTES);
    if ('AF'.includes(name)) this.#row = Math.max(0, this.#row - by);
    if ('BE'.includes(name)) this.#row = Math.min(this.#rows.length - 1, this.#row + by);
    if ('Hf'.includes(name)) this.#row = Math.min(by, ROWS) - 1;
    while (this.#rows.length <= this.#row) this.#rows.push('');
    if (name === 'J' && first === 0) this.#rows.length = this.#row + 1;
    if (name === 'J' && first === 2) [this.#rows, this.#row] = [[''], 0];
    if ('JK'.includes(name) && first === 0) cells.length = Math.min(at, cells.length);
    if (name === 'K' && first > 0) cells.fill(' ', 0, first === 1 ? at + 1 : cells.length);
  }
}

/** The text that a terminal would show of these bytes. */
export function shownText(bytes: Buffer): string {
  const screen = new TerminalScreen();
  return Buffer.from(screen.push(bytes.toString('latin1')) + screen.end(), 'latin1').toString('utf8');
}

function textOf(row: Row): string {
  return typeof row === 'string' ? row : row.join('').replace(/ +$/, '');
}
