import type { UiStyle } from '../../render/style.ts';
import { actionOf } from '../keys/action-of.ts';
import type { KeyBindings } from '../keys/keys-config.ts';
import type { Screen, ScreenListener } from '../terminal/screen.ts';
import { Overview } from './overview.ts';
import type { OverviewSource } from './overview-state.ts';

export interface WatchOptions {
  readonly source: OverviewSource;
  readonly style: UiStyle;
  readonly bindings: KeyBindings;
  readonly openScreen: (listener: ScreenListener) => Screen;
}

/** Minimum time between frames for changes of the ledger; a key is drawn at once. */
const FRAME_MS = 100;

/** Shows the overview alone. Once the terminal is restored, resolves to the agent that the person wants to open, or null if they leave. */
export async function watchTrees({
  source,
  style,
  bindings,
  openScreen,
}: WatchOptions): Promise<string | null> {
  const { promise, resolve } = Promise.withResolvers<string | null>();
  let timer: NodeJS.Timeout | null = null;
  const draw = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    screen.draw(overview.frame(screen.rows));
  };
  const screen = openScreen({
    onInput: (data) => {
      if (actionOf(data, false, bindings) === 'suspend') return screen.suspend();
      overview.key(data);
      draw();
    },
    onResize: draw,
    onHangup: () => resolve(null),
  });
  const overview = new Overview(source, {
    ...{ style, bindings, screen, open: resolve },
    close: () => resolve(null),
    redraw: () => {
      timer ??= setTimeout(draw, FRAME_MS);
    },
  });
  const ticker = setInterval(() => overview.tick(Date.now()), FRAME_MS);
  try {
    screen.enterFull();
    overview.open();
    draw();
    return await promise;
  } finally {
    clearInterval(ticker);
    await overview.close();
    if (timer !== null) clearTimeout(timer);
    screen.close();
  }
}
