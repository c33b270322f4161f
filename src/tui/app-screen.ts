import type { AppContext } from './app-context.ts';
import { EntryPrinter } from './entry-printer.ts';
import { describeBindings } from './keys/key-bindings.ts';
import { commandRows, keyRows } from './keys/key-rows.ts';
import { shortcuts } from './keys/shortcuts.ts';
import { paneOf, type UiState } from './state/ui-state.ts';
import { drawingWidth, type Frame } from './terminal/screen.ts';
import { type FrameBudget, frameBudget } from './text/frame-budget.ts';
import { MarkdownTail } from './text/markdown.ts';
import { frameView } from './views/frame-view.ts';
import { agentNames } from './views/transcript/agent-names.ts';
import { finishedEntries } from './views/transcript/entry-view.ts';
import { spokenChanges } from './views/transcript/spoken-changes.ts';
import { EntryLines, transcriptView } from './views/transcript/transcript-view.ts';

/** Maximum entries of a reopened conversation that are printed again. */
const REPRINTED = 400;

const NOTHING_NEW = { lines: [], whole: true } as const;

/** Draws the state: the root's conversation goes into the terminal's own scrollback, any other agent's fills the screen. */
export class AppScreen {
  readonly #app: AppContext;
  readonly #banner: string | null;
  readonly #kept = new EntryLines();
  readonly #text = new MarkdownTail();
  /** Keeps track of what is in the native scrollback. */
  #printer: EntryPrinter | null = null;
  #spoken: UiState | null = null;

  constructor(app: AppContext, banner: string | null) {
    this.#app = app;
    this.#banner = banner;
  }

  /** False when the frame's budget ran out: another frame has to follow at once. */
  draw(): boolean {
    const { screen, state, style } = this.#app;
    const spend = frameBudget();
    const root = this.#newOfRoot(spend);
    const above = [...root.lines, ...(style.accessible && root.whole ? this.#spokenNow() : [])];
    const wants_full = this.#wantsFull();
    if (wants_full && !screen.full) screen.enterFull();
    else if (!wants_full && screen.full) screen.leaveFull();
    if (!wants_full) {
      screen.draw(this.#frame(state, Math.max(1, screen.rows - 1)), above);
      return root.whole;
    }
    const full = this.#full(state, spend);
    screen.draw(full.frame, above);
    return root.whole && full.whole;
  }

  /** Lists and other agents fill the screen; the main conversation stays inline. */
  #wantsFull(): boolean {
    const { state, browsing } = this.#app;
    const { overlay, view } = state;
    if (overlay?.type === 'agents' || overlay?.type === 'keys') return true;
    return view !== null && (view !== state.root_id || browsing);
  }

  /** Lines of the main conversation that are not printed yet. */
  #newOfRoot(spend: FrameBudget): { readonly lines: readonly string[]; readonly whole: boolean } {
    const { state, screen, style } = this.#app;
    if (state.root_id === null) return NOTHING_NEW;
    const { entries } = paneOf(state, state.root_id);
    const end = finishedEntries(entries);
    if (end === 0) return NOTHING_NEW;
    // Of a long conversation that is reopened, only the newest entries are printed.
    this.#printer ??= new EntryPrinter(Math.max(0, end - REPRINTED));
    const width = drawingWidth(screen);
    return this.#printer.lines(entries, end, { width, style, names: agentNames(state), spend });
  }

  #spokenNow(): readonly string[] {
    const { state, screen, style } = this.#app;
    const before = this.#spoken;
    this.#spoken = state;
    if (before === null || before === state) return [];
    return spokenChanges(before, state, drawingWidth(screen), style);
  }

  #frame(state: UiState, height: number): Frame {
    const { screen, style, editor, bindings } = this.#app;
    const width = drawingWidth(screen);
    const rows = describeBindings(bindings);
    const ways = shortcuts(rows);
    return frameView(state, {
      width,
      height,
      style,
      input: editor.render(width, Math.max(1, Math.floor(height / 2))),
      banner: this.#banner,
      drafting: !state.leader && editor.text !== '',
      shortcuts: ways,
      keys: [...keyRows(rows), ...commandRows(rows)],
      text: this.#text,
    });
  }

  /** The scrollback of the agent in view above the layers. */
  #full(state: UiState, spend: FrameBudget): { readonly frame: Frame; readonly whole: boolean } {
    const { screen, style } = this.#app;
    const below = this.#frame(state, screen.rows);
    const { view, overlay } = state;
    if (view === null || overlay?.type === 'agents' || overlay?.type === 'keys')
      return { frame: below, whole: true };
    const height = screen.rows - below.lines.length;
    if (height <= 0) return { frame: below, whole: true };
    const { entries } = paneOf(state, view);
    const shown = transcriptView(entries.slice(0, finishedEntries(entries)), {
      width: drawingWidth(screen),
      height,
      scrolled: this.#app.scrolled,
      style,
      names: agentNames(state),
      kept: this.#kept,
      spend,
    });
    this.#app.scrolled = shown.scrolled;
    const gap = Array.from({ length: Math.max(0, height - shown.lines.length) }, () => '');
    const above = [...gap, ...shown.lines];
    const cursor =
      below.cursor === null ? null : { row: below.cursor.row + above.length, column: below.cursor.column };
    return { frame: { lines: [...above, ...below.lines], cursor }, whole: shown.whole };
  }
}
