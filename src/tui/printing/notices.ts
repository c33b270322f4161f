import { paint } from '../../render/style.ts';
import type { AppContext } from '../app-context.ts';
import { drawingWidth } from '../terminal/screen.ts';
import { wrap } from '../text/wrap.ts';

type Tone = 'red' | 'dim';

/** What is printed while there is no agent in view; the first lines wait for what their colours depend on. */
export class Notices {
  readonly #app: Pick<AppContext, 'screen' | 'style'>;
  #held: (readonly [text: string, tone: Tone])[] | null;

  constructor(app: Pick<AppContext, 'screen' | 'style'>, greeting: readonly string[]) {
    this.#app = app;
    this.#held = greeting.map((text) => [text, 'dim'] as const);
  }

  /** Nothing is on the screen yet. */
  get held(): boolean {
    return this.#held !== null;
  }

  print(text: string, tone: Tone): void {
    if (this.#held !== null) {
      this.#held.push([text, tone]);
      return;
    }
    const { screen, style } = this.#app;
    screen.print(wrap(text, drawingWidth(screen), style).map((line) => paint(style, tone, line)));
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = null;
    for (const [text, tone] of held) this.print(text, tone);
  }
}
