import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Pty } from '../../test/tui/terminal/pty.ts';
import { DARK, LIGHT, type Palette, terminalPicture, terminalRows } from './terminal-svg.ts';

const IMAGES = join(import.meta.dirname, '..', '..', 'docs', 'images');
/** Of the terminal that is recorded. */
export const SIZE = { columns: 100, rows: 28 };
/** Milliseconds between two simulated key presses. */
const KEY_MS = 70;
const SAMPLE_MS = 25;

/** Contents of the screen for some seconds, for each palette. */
interface Frame {
  readonly seconds: number;
  readonly parts: ReadonlyMap<Palette, readonly string[]>;
}

/** Animated picture that shows the frames in a loop; with `prefers-reduced-motion`, only the last one. */
function movingPicture(frames: readonly Frame[], palette: Palette, title: string): string {
  const all = frames.reduce((sum, { seconds }) => sum + seconds, 0);
  let from = 0;
  const styles = frames.map(({ seconds }, index) => {
    const [begin, end] = [from / all, (from + seconds) / all].map((part) => `${(part * 100).toFixed(2)}%`);
    from += seconds;
    const hidden = index === 0 ? '' : '0%{visibility:hidden}';
    return `@keyframes f${index}{${hidden}${begin}{visibility:visible}${end}{visibility:hidden}}#f${index}{animation:f${index} ${all}s step-end infinite}`;
  });
  const last = `@media (prefers-reduced-motion){${frames.map((_, index) => `#f${index}`).join(',')}{animation:none}#f${frames.length - 1}{visibility:visible}}`;
  return terminalPicture(SIZE, palette, title, [
    `<style>.f{visibility:hidden}${styles.join('')}${last}</style>`,
    ...frames.map(
      ({ parts }, index) => `<g class="f" id="f${index}">${(parts.get(palette) ?? []).join('')}</g>`,
    ),
  ]);
}

/** Output of the program with its times in seconds, and the frames of the pictures. */
export class Recording {
  readonly #pty: Pty;
  readonly #began = performance.now();
  readonly #lines: string[] = [];
  readonly #frames: Frame[] = [];
  readonly #timer: NodeJS.Timeout;
  #mark = 0;

  constructor(pty: Pty) {
    this.#pty = pty;
    this.#timer = setInterval(() => this.#sample(), SAMPLE_MS);
  }

  #sample(): void {
    const text = this.#pty.written(this.#mark);
    if (text === '') return;
    this.#mark = this.#pty.mark();
    this.#lines.push(JSON.stringify([this.#seconds(), 'o', text]));
  }

  #seconds(): number {
    return Number(((performance.now() - this.#began) / 1_000).toFixed(3));
  }

  /** Adds the current screen as a frame that is shown for this long. */
  frame(seconds: number): void {
    const { terminal } = this.#pty;
    const parts = [DARK, LIGHT].map((one) => [one, terminalRows(terminal, 0, SIZE.rows, one)] as const);
    this.#frames.push({ seconds, parts: new Map(parts) });
  }

  /** Writes `NAME.cast` and the pictures. */
  write(name: string, title: string): void {
    clearInterval(this.#timer);
    this.#sample();
    const header = {
      version: 2,
      width: SIZE.columns,
      height: SIZE.rows,
      title,
      env: { TERM: 'xterm-256color' },
    };
    mkdirSync(IMAGES, { recursive: true });
    writeFileSync(join(IMAGES, `${name}.cast`), `${[JSON.stringify(header), ...this.#lines].join('\n')}\n`);
    for (const [ground, palette] of Object.entries({ dark: DARK, light: LIGHT }))
      writeFileSync(join(IMAGES, `${name}-${ground}.svg`), movingPicture(this.#frames, palette, title));
    console.log(`${this.#seconds()} s, ${this.#frames.length} pictures`);
  }
}

export async function type(pty: Pty, text: string): Promise<void> {
  for (const letter of text) {
    pty.send(letter);
    await pause(KEY_MS);
  }
  await pause(500);
  pty.send('\r');
}
