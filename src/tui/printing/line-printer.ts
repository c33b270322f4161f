import { keptIn } from '../../records/kept-in.ts';
import type { AppContext } from '../app-context.ts';
import { helpRows } from '../keys/key-rows.ts';
import { STANDARD_SHORTCUTS } from '../keys/shortcuts.ts';
import { isConfirmation } from '../state/confirmation.ts';
import { paneOf, type UiState } from '../state/ui-state.ts';
import { drawingWidth } from '../terminal/screen.ts';
import { frameBudget } from '../text/frame-budget.ts';
import { MarkdownTail } from '../text/markdown.ts';
import { agentsOverlay } from '../views/agents-overlay.ts';
import { approvalBox } from '../views/approvals/approval-box.ts';
import { confirmationLines } from '../views/confirmation-lines.ts';
import { spelled } from '../views/lists/keys-help.ts';
import { pickerLines } from '../views/lists/picker-overlay.ts';
import { agentNames } from '../views/transcript/agent-names.ts';
import { finishedEntries } from '../views/transcript/entry-view.ts';
import { spokenChanges } from '../views/transcript/spoken-changes.ts';
import { EntryPrinter } from './entry-printer.ts';

/** Maximum entries of a conversation that are printed when it comes into view. */
const PRINTED_AGAIN = 40;
/** Maximum rows of a list or a question: nothing scrolls here, so they are printed whole. */
const MAX_ROWS = 200;

/** The UI as plain lines, where nothing can be drawn: the agent in view, questions, and lists on request. */
export class LinePrinter {
  readonly #app: AppContext;
  /** Printers by agent. */
  readonly #printed = new Map<string, EntryPrinter>();
  #printed_state: UiState | null = null;
  /** Renderer of the streamed answer of the agent in view. */
  readonly #text = new MarkdownTail();

  constructor(app: AppContext) {
    this.#app = app;
  }

  /** Prints what is new; returns false if the frame's time budget ran out, so that another call must follow at once. */
  draw(): boolean {
    const { state, screen, style } = this.#app;
    const before = this.#printed_state;
    this.#printed_state = state;
    const width = drawingWidth(screen);
    if (before !== null && before !== state) screen.print(spokenChanges(before, state, width, style));
    if (state.leaving !== null && before?.leaving == null) screen.print(['Ctrl-C again leaves']);
    const whole = this.#entries(state, width);
    const [ask] = state.asks;
    const is_news = before?.question == null || before.asks[0]?.id !== ask?.id;
    if (state.question !== null && is_news)
      screen.print([
        ...approvalBox(
          state,
          { ...state.question, saying: null, grant: null, held: null },
          width,
          MAX_ROWS,
          style,
          {
            shortcuts: STANDARD_SHORTCUTS,
            drafting: false,
            whole: 'p prints all',
          },
        ).slice(0, -2),
        '/allow once, /allow agent to see the rule for later calls too, /deny WORDS; nothing runs until then',
      ]);
    this.#overlay(state, before, width);
    return whole;
  }

  #entries(state: UiState, width: number): boolean {
    const { screen, style } = this.#app;
    if (state.view === null || !paneOf(state, state.view).whole) return true;
    const pane = paneOf(state, state.view);
    const { entries } = pane;
    const end = finishedEntries(entries);
    const printer = keptIn(
      this.#printed,
      state.view,
      () => new EntryPrinter(Math.max(0, end - PRINTED_AGAIN)),
    );
    const names = agentNames(state);
    const options = { width, style, names, spend: frameBudget() };
    const { lines, whole } = printer.lines(entries, end, options);
    screen.print(lines);
    if (!whole || end < entries.length) return whole;
    const streamed = printer.streamed(pane, this.#text, options);
    screen.print(streamed.lines);
    return streamed.whole;
  }

  /** A list is printed once and closed; a confirmation stays open until it is answered. */
  #overlay(state: UiState, before: UiState | null, width: number): void {
    const { screen, style, options } = this.#app;
    const { overlay } = state;
    if (overlay === null || overlay === before?.overlay) return;
    if (isConfirmation(overlay))
      return screen.print(confirmationLines(state, overlay, width, MAX_ROWS, style));
    if (overlay.type === 'trees')
      this.#app.attempt(async () => screen.print(await this.#app.overview.lines()));
    else if (overlay.type === 'agents')
      screen.print(agentsOverlay(state, overlay, width, MAX_ROWS, style).lines.slice(0, -1));
    else if (overlay.type === 'picker') screen.print(pickerLines(overlay));
    else
      for (const { slash, action } of helpRows(options.bindings, this.#app.called.rows()).map(spelled))
        if (slash !== '') screen.print([`${slash}: ${action}`]);
    this.#app.dispatch({ type: 'overlay', overlay: null });
  }
}
