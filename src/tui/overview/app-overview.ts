import type { AppContext } from '../app-context.ts';
import type { UiState } from '../state/ui-state.ts';
import { Overview } from './overview.ts';
import type { OverviewSource } from './overview-state.ts';

/** The overview as an overlay of the app; the tree in view counts as read. */
export class AppOverview extends Overview {
  readonly #app: AppContext;
  readonly #source: OverviewSource;

  constructor(app: AppContext, source: OverviewSource, redraw: () => void) {
    super(source, {
      ...{ style: app.style, bindings: app.bindings, screen: app.screen, redraw },
      close: () => app.dispatch({ type: 'overlay', overlay: null }),
      open: (agent_id) => {
        app.dispatch({ type: 'overlay', overlay: null });
        app.attempt(() => app.openTree(agent_id));
      },
    });
    this.#app = app;
    this.#source = source;
  }

  /** Opens or closes the overview when its overlay has appeared or gone: it follows the ledger only while it is shown. */
  changed(before: UiState): void {
    const shown = this.#app.state.overlay?.type === 'trees';
    if (shown === (before.overlay?.type === 'trees')) return;
    if (!shown) return void this.close();
    this.markSeen();
    this.open();
  }

  markSeen(): void {
    const { root_id, agents } = this.#app.state;
    const changes = [...agents.values()].map(({ updated_at }) => updated_at);
    if (root_id !== null) this.#source.seen.mark(root_id, Math.max(...changes));
  }
}
