import { columnsOf } from '../../render/style.ts';

const MIN_REDRAW_MS = 100;

/** The part of a terminal that the region uses. */
export interface Screen {
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
  on(event: 'resize', listener: () => void): unknown;
  off(event: 'resize', listener: () => void): unknown;
}

/**
 * A block of lines at the bottom of the terminal, redrawn in place at most ten times a second, and only where it changed. Lines
 * printed above it scroll as usual; the scrollback is never cleared, and the block never exceeds the screen.
 */
export class LiveRegion {
  readonly #screen: Screen;
  readonly #render: (width: number, height: number) => readonly string[];
  #drawn: readonly string[] = [];
  #above: string[] = [];
  #last = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;
  #ended = false;

  constructor(screen: Screen, render: (width: number, height: number) => readonly string[]) {
    this.#screen = screen;
    this.#render = render;
    screen.write('\x1b[?25l');
    screen.on('resize', this.#resized);
  }

  /** Schedules a redraw. */
  changed(): void {
    if (this.#ended || this.#timer !== null) return;
    const wait = Math.max(0, this.#last + MIN_REDRAW_MS - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#draw();
    }, wait).unref();
  }

  /** Prints lines above the block with the next redraw. */
  print(lines: readonly string[]): void {
    this.#above.push(...lines);
    this.changed();
  }

  #draw(): void {
    this.#last = performance.now();
    const height = Math.max(1, (this.#screen.rows ?? 24) - 1);
    const lines = this.#render(this.#screen.columns ?? 80, height).slice(0, height);
    let out = '';
    if (this.#above.length > 0) {
      out = `${this.#toTop()}\x1b[J${this.#above.join('\n')}\n`;
      this.#above = [];
      this.#drawn = [];
    }
    out += this.#differences(lines);
    this.#drawn = lines;
    // One write, so that no other output of this process comes in between.
    if (out !== '') this.#screen.write(out);
  }

  #differences(lines: readonly string[]): string {
    const before = this.#drawn;
    if (lines.length === before.length && lines.every((line, index) => line === before[index])) return '';
    const rows = lines.map((line, index) => (line === before[index] ? '\n' : `\r\x1b[2K${line}\n`));
    // Clears the lines below only if there are fewer lines than before.
    return `${this.#toTop()}${rows.join('')}${lines.length < before.length ? '\x1b[J' : ''}`;
  }

  /** Moves the cursor from below the block to its first line. */
  #toTop(): string {
    return this.#drawn.length === 0 ? '\r' : `\r\x1b[${this.#drawn.length}A`;
  }

  /**
   * Redraws in place if all lines still fit. Otherwise the terminal may have wrapped them again, so that the start of the block is unknown; to lose
   * nothing above it, a new block starts below.
   */
  readonly #resized = (): void => {
    const columns = this.#screen.columns ?? 80;
    const fits =
      this.#drawn.length < (this.#screen.rows ?? 24) &&
      this.#drawn.every((line) => columnsOf(line) < columns);
    this.#screen.write(`${fits ? this.#toTop() : '\r'}\x1b[J`);
    this.#drawn = [];
    this.changed();
  };

  /** Draws the last state, leaves it on the screen, and restores the terminal. */
  end(): void {
    if (this.#ended) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#draw();
    this.#ended = true;
    this.#screen.off('resize', this.#resized);
    this.#screen.write('\x1b[?25h');
  }
}
