import type { AppContext } from '../app-context.ts';
import { paneOf } from '../state/ui-state.ts';
import { FindText } from '../text/find-text.ts';

/** `/find`: searches the scrollback of the agent in view on the full screen, with all of it unfolded, so that nothing is missed. */
export function findText(app: AppContext, words: string): void {
  if (app.line_mode)
    return app.say('this terminal only prints lines: search what coppice logs ID prints', 'bad');
  app.find = new FindText(words, app.browsing);
  unfold(app, true);
}

/** Unfolds entries, or folds them again; those already printed are shown unfolded on the full screen. */
export function unfold(app: AppContext, always = false): void {
  const { view } = app.state;
  if (view === null) return;
  const { entries } = paneOf(app.state, view);
  const foldable = entries
    .flatMap((entry, index) => (entry.type === 'say' ? [] : [{ entry, index }]))
    .slice(-200);
  // Entries that nobody sees unfolded any more, because Esc has left the full screen, are shown again.
  const opened = always || !app.screen.full || !foldable.some(({ entry }) => entry.opened);
  for (const { entry, index } of foldable)
    if (entry.opened !== opened) app.dispatch({ type: 'fold', agent_id: view, index, opened });
  app.browsing = opened;
  app.scrolled = 0;
}
