const MIN_REDRAW_MS = 100;

/**
 * A block of lines at the bottom of the terminal that is redrawn in place, at most ten times a second, and only where it
 * changed. Lines printed above it scroll as ever; the scrollback is never cleared, the block never grows beyond the screen.
 */
export class LiveRegion {
  readonly #stream: NodeJS.WriteStream;
  readonly #render: (width: number, height: number) => readonly string[];
  #drawn: readonly string[] = [];
  #last = 0;
  #timer: NodeJS.Timeout | null = null;
  #ended = false;

  constructor(stream: NodeJS.WriteStream, render: (width: number, height: number) => readonly string[]) {
    this.#stream = stream;
    this.#render = render;
    stream.write('\x1b[?25l');
    stream.on('resize', this.#resized);
  }

  /** Something changed; drawn soon. */
  changed(): void {
    if (this.#ended || this.#timer !== null) return;
    const wait = Math.max(0, this.#last + MIN_REDRAW_MS - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#draw();
    }, wait).unref();
  }

  /** Prints lines above the block. */
  print(lines: readonly string[]): void {
    if (lines.length === 0) return;
    const block = this.#drawn;
    this.#stream.write(`${this.#toTop()}\x1b[J${lines.join('\n')}\n`);
    this.#drawn = [];
    if (!this.#ended) this.#paint(block);
  }

  #draw(): void {
    this.#last = performance.now();
    this.#paint(this.#render(this.#stream.columns ?? 80, Math.max(3, (this.#stream.rows ?? 24) - 2)));
  }

  #paint(lines: readonly string[]): void {
    const before = this.#drawn;
    if (lines.length === before.length && lines.every((line, index) => line === before[index])) return;
    let out = this.#toTop();
    lines.forEach((line, index) => {
      if (line !== before[index]) out += `\r\x1b[2K${line}`;
      out += '\n';
    });
    // Fewer lines than before: what is left below is cleared, nothing else.
    if (lines.length < before.length) out += '\x1b[J';
    this.#drawn = lines;
    this.#stream.write(out);
  }

  /** From below the block to its first line. */
  #toTop(): string {
    return this.#drawn.length === 0 ? '\r' : `\r\x1b[${this.#drawn.length}A`;
  }

  /** The terminal has broken the lines anew: where the block began is unknown, so it starts afresh below. */
  readonly #resized = (): void => {
    this.#drawn = [];
    this.#stream.write('\r\x1b[J');
    this.changed();
  };

  /** Draws the last state and leaves it standing; the terminal is as it was. */
  end(): void {
    if (this.#ended) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#draw();
    this.#ended = true;
    this.#stream.off('resize', this.#resized);
    this.#stream.write('\x1b[?25h');
  }
}
