import { stripVTControlCharacters } from 'node:util';
import type { AppContext } from './app-context.ts';
import { helpRows } from './keys/key-rows.ts';
import { describeBindings } from './keys/keys-config.ts';
import { shortcuts } from './keys/shortcuts.ts';
import { EntryPrinter } from './printing/entry-printer.ts';
import { isList } from './state/confirmation.ts';
import type { Entry } from './state/entry.ts';
import { paneOf, type UiState } from './state/ui-state.ts';
import { drawingWidth, type Frame, type Growing } from './terminal/screen.ts';
import { type FrameBudget, frameBudget } from './text/frame-budget.ts';
import { MarkdownTail } from './text/markdown.ts';
import { frameView } from './views/frame-view.ts';
import { type AgentNames, agentNames } from './views/transcript/agent-names.ts';
import { finishedEntries } from './views/transcript/entry-view.ts';
import { spokenChanges } from './views/transcript/spoken-changes.ts';
import { streamingView } from './views/transcript/streaming-view.ts';
import { EntryLines, transcriptView } from './views/transcript/transcript-view.ts';

/** Maximum entries of a reopened conversation that are printed again. */
const REPRINTED = 400;

/** Agents of other trees are not known by name. */
const NO_NAMES: AgentNames = { name: () => null, slot: () => null };

const NOTHING_NEW = { lines: [], whole: true } as const;

/** Draws the state: the root's conversation goes into the terminal's own scrollback, any other agent's fills the screen. */
export class AppScreen {
  readonly #app: AppContext;
  readonly #kept = new EntryLines();
  readonly #kept_tail = new EntryLines();
  /** Renderers of the streamed answers: of the main conversation, and of another agent in view. */
  readonly #texts = { root: new MarkdownTail(), view: new MarkdownTail(), tail: new MarkdownTail() };
  /** Keeps track of what is in the native scrollback. */
  #printer: EntryPrinter | null = null;
  #spoken: UiState | null = null;
  /** Rows of the streamed answer in the scrollback while it is scrolled up; otherwise 0. */
  #streamed_rows = 0;

  constructor(app: AppContext) {
    this.#app = app;
  }

  /** Draws a frame; returns false if its time budget ran out, so that another frame must follow at once. */
  draw(): boolean {
    const { screen, state, style } = this.#app;
    const spend = frameBudget();
    const root = this.#newOfRoot(spend);
    const above = [...root.lines, ...(style.accessible && root.whole ? this.#spokenNow() : [])];
    const wants_full = this.#wantsFull();
    if (wants_full && !screen.full) screen.enterFull();
    else if (!wants_full && screen.full) screen.leaveFull();
    if (!wants_full) {
      const frame = this.#frame(state, Math.max(1, screen.rows - 1));
      screen.draw({ ...frame, growing: this.#growing(state, frame) }, above);
      return root.whole;
    }
    const full = this.#full(state, spend);
    screen.draw(full.frame, above);
    return root.whole && full.whole;
  }

  /** Takes what a resize has left of the streamed answer in the scrollback. */
  left(streamed: string): void {
    this.#printer?.left(streamed);
  }

  /** The streamed answer of the root as a frame shows it, without its last row, if all of it that is not printed is there. */
  #growing({ view, root_id, panes }: UiState, { lines, growing }: Frame): Growing | null {
    const pane = view === null || view !== root_id ? undefined : panes.get(view);
    if (pane === undefined || !growing || finishedEntries(pane.entries) < pane.entries.length) return null;
    const { streaming, reasoning } = pane;
    if (streaming === '') return null;
    // Its thoughts are printed above its first finished block.
    if (reasoning !== '' && this.#printer?.printed(streaming) === 0) return null;
    const text = streaming.trimEnd();
    const last = stripVTControlCharacters(lines[growing.rows - 1] ?? '').trim();
    // With marks that are not shown, a place in the row is not found in the text.
    if (last === '' || !text.endsWith(last)) return { rows: growing.rows, text };
    return growing.rows === 1 ? null : { rows: growing.rows - 1, text: text.slice(0, -last.length) };
  }

  /** Lists and other agents fill the screen; the main conversation stays inline. */
  #wantsFull(): boolean {
    const { state, browsing } = this.#app;
    const { overlay, view } = state;
    if (isList(overlay)) return true;
    return view !== null && (view !== state.root_id || browsing);
  }

  /** Lines of the main conversation that are not printed yet. */
  #newOfRoot(spend: FrameBudget): { readonly lines: readonly string[]; readonly whole: boolean } {
    const { state, screen, style } = this.#app;
    if (state.root_id === null) return NOTHING_NEW;
    const pane = paneOf(state, state.root_id);
    const { entries } = pane;
    const end = finishedEntries(entries);
    if (end === 0) return NOTHING_NEW;
    // When a long conversation is reopened, only the newest entries are printed.
    this.#printer ??= new EntryPrinter(Math.max(0, end - REPRINTED));
    const options = { width: drawingWidth(screen), style, names: agentNames(state), spend };
    const printed = this.#printer.lines(entries, end, options);
    if (!printed.whole || end < entries.length) return printed;
    const streamed = this.#printer.streamed(pane, this.#texts.root, options);
    return { lines: [...printed.lines, ...streamed.lines], whole: streamed.whole };
  }

  #spokenNow(): readonly string[] {
    const { state, screen, style } = this.#app;
    const before = this.#spoken;
    this.#spoken = state;
    if (before === null || before === state) return [];
    return spokenChanges(before, state, drawingWidth(screen), style);
  }

  #frame(state: UiState, height: number): Frame {
    const { screen, style, editor, find, options } = this.#app;
    const { banner, meters, bindings } = options;
    const width = drawingWidth(screen);
    return frameView(state, {
      width,
      height,
      style,
      input:
        find === null ? editor.render(width, Math.max(1, Math.floor(height / 2))) : find.input(width, style),
      find_hint: find?.hint(width, style) ?? null,
      flags: [banner, editor.vim_mode],
      meters,
      drafting: !state.leader && editor.text !== '',
      rules_file: options.rules_file,
      shortcuts: shortcuts(describeBindings(bindings)),
      // Commands of files and servers are looked for only when they are shown.
      keys: state.overlay?.type === 'keys' ? helpRows(bindings, this.#app.called.rows()) : [],
      text: this.#text(state),
      printed: this.#printed(state),
      tail: (agent_id, columns, rows) => this.#tail(state, agent_id, columns, rows),
      preview: (entries, columns, rows) => this.#lastLines(entries, columns, rows, NO_NAMES),
    });
  }

  /** The newest lines of an agent, for the list of agents. */
  #tail(state: UiState, agent_id: string, width: number, height: number): readonly string[] {
    const { style } = this.#app;
    if (height < 1) return [];
    const pane = paneOf(state, agent_id);
    const names = agentNames(state);
    const text = this.#texts.tail;
    const live = streamingView(pane, { width, height, style, names, hidden_calls: [], text });
    const entries = pane.entries.slice(0, finishedEntries(pane.entries));
    return [...this.#lastLines(entries, width, height - live.length, names), ...live];
  }

  #lastLines(entries: readonly Entry[], width: number, height: number, names: AgentNames): readonly string[] {
    const options = { width, height, names, scrolled: 0, kept: this.#kept_tail, spend: frameBudget() };
    return transcriptView(entries, { ...options, style: this.#app.style }).lines;
  }

  #text({ view, root_id }: UiState): MarkdownTail {
    return view === root_id ? this.#texts.root : this.#texts.view;
  }

  /** Number of characters of the streamed answer in view that are already in the scrollback. */
  #printed({ view, root_id, panes }: UiState): number {
    const streaming = (view === null ? undefined : panes.get(view))?.streaming ?? '';
    if (view === root_id && !this.#app.screen.full) return this.#printer?.printed(streaming) ?? 0;
    return this.#streamed_rows > 0 ? streaming.length : 0;
  }

  /** The full-screen frame: the scrollback of the agent in view above the layers of `frameView`, or a list. */
  #full(state: UiState, spend: FrameBudget): { readonly frame: Frame; readonly whole: boolean } {
    const { screen, style } = this.#app;
    if (state.overlay?.type === 'trees') return { frame: this.#app.overview.frame(screen.rows), whole: true };
    const { view, overlay } = state;
    const { find } = this.#app;
    const { entries: all } = view === null ? { entries: [] } : paneOf(state, view);
    const entries = all.slice(0, finishedEntries(all));
    const options = { width: drawingWidth(screen), style, names: agentNames(state), kept: this.#kept, spend };
    const found =
      find === null || isList(overlay)
        ? null
        : find.look(entries, (...of) => this.#kept.lines(...of, options));
    const hit = found?.below ?? null;
    if (hit !== null) this.#app.scrolled ||= hit;
    const tail = this.#streamedAbove(state);
    const below = this.#frame(state, screen.rows);
    if (view === null || isList(overlay)) return { frame: below, whole: true };
    const height = screen.rows - below.lines.length;
    if (height <= 0) return { frame: below, whole: true };
    // A hit stands in the middle.
    if (hit !== null) this.#app.scrolled = Math.max(0, hit + tail.length - Math.floor(height / 2));
    const shown = transcriptView(entries, { ...options, height, scrolled: this.#app.scrolled, tail });
    this.#app.scrolled = shown.scrolled;
    const gap = Array.from({ length: Math.max(0, height - shown.lines.length) }, () => '');
    const lines = find?.marked(shown.lines, shown.scrolled - tail.length) ?? shown.lines;
    const above = [...gap, ...lines];
    const cursor =
      below.cursor === null ? null : { row: below.cursor.row + above.length, column: below.cursor.column };
    return {
      frame: { lines: [...above, ...below.lines], cursor },
      whole: shown.whole && found?.whole !== false,
    };
  }

  /** While scrolled up, the streamed answer is part of the scrollback, whose visible part stays in place as the answer grows. */
  #streamedAbove(state: UiState): readonly string[] {
    const { screen, style } = this.#app;
    const streaming = state.view === null ? '' : paneOf(state, state.view).streaming;
    const rows = this.#streamed_rows;
    this.#streamed_rows = 0;
    if (this.#app.scrolled === 0 || streaming === '') return [];
    const tail = [
      '',
      ...this.#text(state).lines(streaming, drawingWidth(screen), style, Number.POSITIVE_INFINITY),
    ];
    if (rows > 0) this.#app.scrolled += tail.length - rows;
    this.#streamed_rows = tail.length;
    return tail;
  }
}
