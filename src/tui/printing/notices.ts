import { paint } from '../../render/style.ts';
import type { AppContext } from '../app-context.ts';
import { drawingWidth } from '../terminal/screen.ts';
import { withLinks } from '../text/links.ts';
import { wrapInPieces } from '../text/wrap.ts';

type Tone = 'red' | 'dim';

/** Notices printed while no agent is in view; the first ones are held until the terminal's background, on which colours depend, is known. */
export class Notices {
  readonly #app: Pick<AppContext, 'screen' | 'style'>;
  #held: (readonly [text: string, tone: Tone])[] | null;

  constructor(app: Pick<AppContext, 'screen' | 'style'>, greeting: readonly string[]) {
    this.#app = app;
    this.#held = greeting.map((text) => [text, 'dim'] as const);
  }

  /** Whether notices are still held, so that nothing is on the screen yet. */
  get held(): boolean {
    return this.#held !== null;
  }

  print(text: string, tone: Tone): void {
    if (this.#held !== null) {
      this.#held.push([text, tone]);
      return;
    }
    const { screen, style } = this.#app;
    for (const lines of wrapInPieces(text, drawingWidth(screen), style)) {
      const painted = lines.map((line) => paint(style, tone, line));
      screen.print(withLinks(style, text, painted));
    }
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = null;
    for (const [text, tone] of held) this.print(text, tone);
  }
}
