import type { Desk } from './desk.ts';
import type { Frame } from './frame.ts';
import { describeBindings } from './key-bindings.ts';
import { commandRows, keyRows } from './key-rows.ts';
import { MarkdownLines } from './markdown.ts';
import { shortcuts } from './shortcuts.ts';
import { paneOf, type UiState } from './ui-state.ts';
import { finishedEntries } from './views/entry-view.ts';
import { frameView } from './views/frame-view.ts';
import { nameContext } from './views/name-context.ts';
import { spokenChanges } from './views/spoken-changes.ts';
import { EntryLines, transcriptView } from './views/transcript-view.ts';

/** Entries of a reopened conversation that are printed again. */
const REPRINTED = 400;

/** Puts the state onto the terminal: the root's scrollback is the terminal's own, any other agent's fills the screen. */
export class AppScreen {
  readonly #desk: Desk;
  readonly #banner: string | null;
  readonly #kept = new EntryLines();
  readonly #text = new MarkdownLines();
  /** Entries of the root that stand in the native scrollback. */
  #printed = 0;
  #spoken: UiState | null = null;

  constructor(desk: Desk, banner: string | null) {
    this.#desk = desk;
    this.#banner = banner;
  }

  draw(): void {
    const { screen, state, look } = this.#desk;
    this.#printRoot();
    if (look.accessible) this.#speak();
    const wants_full = this.#wantsFull();
    if (wants_full && !screen.full) screen.enterFull();
    else if (!wants_full && screen.full) screen.leaveFull();
    screen.draw(wants_full ? this.#full(state) : this.#frame(state, Math.max(1, screen.rows - 1)));
  }

  /** Lists and other agents fill the screen; the main conversation stays inline. */
  #wantsFull(): boolean {
    const { state, browsing } = this.#desk;
    const { overlay, view } = state;
    if (overlay?.type === 'agents' || overlay?.type === 'keys') return true;
    return view !== null && (view !== state.root_id || browsing);
  }

  #printRoot(): void {
    const { state, screen, look } = this.#desk;
    if (state.root_id === null) return;
    const pane = paneOf(state, state.root_id);
    const end = finishedEntries(pane.entries);
    if (end <= this.#printed) return;
    // A long conversation that is opened again: the newest of it, the rest is a key away.
    if (this.#printed === 0 && end > REPRINTED) this.#printed = end - REPRINTED;
    const names = nameContext(state);
    const width = Math.max(1, screen.columns - 1);
    const lines: string[] = [];
    for (let index = this.#printed; index < end; index += 1) {
      const entry = pane.entries[index];
      if (entry !== undefined)
        lines.push(...this.#kept.lines(entry, pane.entries[index - 1] ?? null, width, look, names));
    }
    this.#printed = end;
    screen.print(lines);
  }

  #speak(): void {
    const { state, screen, look } = this.#desk;
    if (this.#spoken !== null && this.#spoken !== state) {
      const lines = spokenChanges(this.#spoken, state, Math.max(1, screen.columns - 1), look);
      if (lines.length > 0) screen.print(lines);
    }
    this.#spoken = state;
  }

  #frame(state: UiState, height: number): Frame {
    const { screen, look, editor, bindings } = this.#desk;
    const width = Math.max(1, screen.columns - 1);
    const rows = describeBindings(bindings);
    const ways = shortcuts(rows);
    return frameView(state, {
      width,
      height,
      look,
      input: editor.render(width, Math.max(1, Math.floor(height / 2))),
      banner: this.#banner,
      drafting: !state.leader && editor.text !== '',
      shortcuts: ways,
      keys: [...keyRows(rows), ...commandRows(rows)],
      text: this.#text,
    });
  }

  /** The scrollback of the agent in view above the layers. */
  #full(state: UiState): Frame {
    const { screen, look } = this.#desk;
    const below = this.#frame(state, screen.rows);
    const { view, overlay } = state;
    if (view === null || overlay?.type === 'agents' || overlay?.type === 'keys') return below;
    const height = screen.rows - below.lines.length;
    if (height <= 0) return below;
    const { entries } = paneOf(state, view);
    const shown = transcriptView(entries.slice(0, finishedEntries(entries)), {
      width: Math.max(1, screen.columns - 1),
      height,
      scrolled: this.#desk.scrolled,
      look,
      names: nameContext(state),
      kept: this.#kept,
    });
    this.#desk.scrolled = shown.scrolled;
    const gap = Array.from({ length: Math.max(0, height - shown.lines.length) }, () => '');
    const above = [...gap, ...shown.lines];
    const cursor =
      below.cursor === null ? null : { row: below.cursor.row + above.length, column: below.cursor.column };
    return { lines: [...above, ...below.lines], cursor };
  }
}
