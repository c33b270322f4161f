import {
  CURSOR_MARKER,
  Editor,
  matchesKey,
  renderFakeCursor,
  type TUI,
  visibleWidth,
} from '@earendil-works/pi-tui';
import { mentionOfDropped } from '../../trees/typed/mentions.ts';
import { printable, typedText } from '../keys/action-of.ts';
import { bracketedPaste, pastedText } from '../terminal/control-sequences.ts';
import type { Frame } from '../terminal/screen.ts';
import { HistorySearch, searchFrame } from './history/history-search.ts';
import type { LineCompletion } from './line-completion.ts';
import { VIM_PRESSES, type VimDraft, VimKeys } from './vim-keys.ts';
// This folder is the input line: editing, completion, history, attachments, and resolving references to agents.

export interface LineEditorOptions {
  readonly completion: LineCompletion | null;
  /** Texts sent before, oldest first, for the search. */
  readonly sent: () => readonly string[];
  /** Whether letters are commands of vim in its normal mode. */
  readonly vim?: () => boolean;
  /** Colours of the completion list, and whether the terminal shows Unicode. */
  readonly style: LineEditorStyle;
  /** Called when completions arrive. */
  readonly onRedraw: () => void;
}

export interface LineEditorStyle {
  readonly unicode: boolean;
  readonly selected: (text: string) => string;
  readonly dim: (text: string) => string;
}

/** Ends what is shown of each completion: a row of the list without it was cut, which the library does without a sign. */
const WHOLE = '\u2060';
/** Width up to which the library shows no descriptions. */
const LABELS_ONLY = 40;

/** Placeholder for a tab, which is kept but shown as one column: a noncharacter, which no text should contain. */
const TAB = '\ufdd0';
/** Limits above which a paste is shown as a marker. */
const LONG_PASTE = { lines: 10, length: 1000 };
/** Length above which a restored text is shown as a marker, too: laying it out again on every key would be slow. */
const LONG_TEXT = 10_000;

/** Multi-line text input with undo, history, completion, and long pastes shown as markers. */
export class LineEditor {
  /** Called with the text that the person sends: trimmed, with long pastes and tabs restored. */
  onSubmit: (text: string) => void = () => {};
  /** Whether the text is a prompt, or is captured for a sub-agent. */
  mode: 'prompt' | 'capture' = 'prompt';
  readonly #options: LineEditorOptions;
  readonly #editor: BorderlessEditor;
  readonly #vim = new VimKeys();
  #search: HistorySearch | null = null;
  #key = '';

  constructor(options: LineEditorOptions) {
    this.#options = options;
    this.#editor = this.#newEditor();
  }

  /** The whole text, with paste markers expanded. */
  get text(): string {
    return decoded(this.#editor.getExpandedText());
  }

  setText(text: string): void {
    this.#vim.insert();
    this.#editor.setText('');
    if (text.length > LONG_TEXT) this.#editor.handleInput(bracketedPaste(encoded(text)));
    else this.#editor.setText(encoded(text));
  }

  /** The mode of vim; null without vim. */
  get vim_mode(): VimKeys['mode'] | null {
    return this.#options.vim?.() === true ? this.#vim.mode : null;
  }

  /** Handles Esc and, in the normal mode, Ctrl-R as vim does; false for other keys, and if Esc has nothing of vim to end. */
  vimKey(data: string): boolean {
    if (this.vim_mode === null) return false;
    if (matchesKey(data, 'escape')) return this.#vim.escape(this.#editor);
    const redoes = this.#vim.mode === 'NORMAL' && matchesKey(data, 'ctrl+r');
    if (redoes) this.redo();
    return redoes;
  }

  get completing(): boolean {
    return this.#editor.isShowingAutocomplete();
  }

  /** Handles one key or one paste. */
  handleInput(data: string): void {
    const text = pastedText(data);
    this.#key = data;
    if (text === null && this.vim_mode === 'NORMAL') {
      const key = matchesKey(data, 'backspace') ? 'h' : printable(data);
      const begins_command = key === '/' && this.text === '';
      if (key !== null && !begins_command) return this.#vim.command(this.#editor, key);
      if (begins_command) this.#vim.insert();
    }
    if (text === null) {
      // With nothing typed behind the slash, Enter only writes the command: it runs what somebody has seen there.
      const writes = this.completing && this.text === '/' && matchesKey(data, 'enter');
      this.#editor.handleInput(writes ? '\t' : data);
      return;
    }
    const dropped = mentionOfDropped(text);
    const pasted = dropped === null ? encoded(text) : `${dropped} `;
    const long = pasted.length > LONG_PASTE.length || pasted.split('\n').length > LONG_PASTE.lines;
    if (long) this.#editor.handleInput(bracketedPaste(pasted));
    else this.#editor.insertTextAtCursor(pasted);
  }

  /** Does again what an undo took back; nothing once something else was written. */
  redo(): void {
    this.#editor.redo();
  }

  addHistory(entry: string): void {
    this.#editor.addToHistory(encoded(entry));
  }

  get searching(): boolean {
    return this.#search !== null;
  }

  /** Begins a search of the history, or goes to the next older match. */
  searchHistory(): void {
    if (this.#search === null) this.#search = new HistorySearch(this.#options.sent());
    else this.#search.older();
  }

  /**
   * Handles a key while the history is searched, as shells do: Ctrl-C and Ctrl-G return to the draft; any other key that writes nothing
   * makes the match the draft. Returns false if the key should then also have its usual effect (Enter sends).
   */
  searchKey(data: string): boolean {
    const search = this.#search;
    if (search === null) return false;
    const typed = typedText(data);
    if (typed !== null) search.type(typed);
    else if (matchesKey(data, 'backspace')) search.erase();
    else {
      this.#search = null;
      if (matchesKey(data, 'ctrl+c') || matchesKey(data, 'ctrl+g')) return true;
      if (search.match !== null) this.setText(search.match);
      return matchesKey(data, 'escape') || matchesKey(data, 'tab');
    }
    return true;
  }

  /** Renders at most `max_rows` lines: the text around the caret, then completions as far as they fit. */
  render(width: number, max_rows: number): Frame {
    if (this.#search !== null) return searchFrame(this.#search, width, max_rows, this.#options.style);
    const inner = Math.max(2, width - 2);
    const { rows, hidden, list } = this.#editor.layOut(inner, Math.max(1, max_rows));
    const lines = rows.map(
      (row, index) => `${this.#prompt(index, rows.length, hidden)}${withoutPaintedCursor(row)}`,
    );
    const row = rows.findIndex((line) => line.includes(CURSOR_MARKER));
    const before = rows[row]?.split(CURSOR_MARKER)[0] ?? '';
    const completions = list
      .slice(0, Math.max(0, max_rows - lines.length))
      .map((line) => `  ${withoutPaintedCursor(this.#signed(line, inner))}`);
    return {
      lines: [...lines, ...completions],
      cursor: row < 0 ? null : { row, column: visibleWidth(pastesIn(before)) + 2 },
    };
  }

  /** A completion whose end was cut off, with a sign of it. */
  #signed(line: string, width: number): string {
    if (line.includes(WHOLE)) return line.replace(WHOLE, '');
    if (width <= LABELS_ONLY || visibleWidth(line.trimEnd()) < width - 6) return line;
    const cut = this.#options.style.unicode ? '…' : '...';
    return line.replace(new RegExp(`.{${cut.length}}((?:\\s|\\u001b\\[[\\d;]*m)*)$`, 'u'), `${cut}$1`);
  }

  #prompt(index: number, rows: number, hidden: HiddenRows): string {
    const { unicode } = this.#options.style;
    if (this.mode === 'capture') return unicode ? '┆ ' : '| ';
    if (index === 0 && hidden.above > 0) return unicode ? '↑ ' : '^ ';
    if (index === rows - 1 && hidden.below > 0) return unicode ? '↓ ' : 'v ';
    return index === 0 ? '> ' : '  ';
  }

  #newEditor(): BorderlessEditor {
    const { completion, style, onRedraw } = this.#options;
    const plain = (text: string) => text;
    const editor = new BorderlessEditor(
      { requestRender: onRedraw, terminal: { rows: 0 } } as unknown as TUI,
      {
        borderColor: plain,
        selectList: {
          selectedPrefix: plain,
          selectedText: (text) => style.selected(style.unicode ? text : text.replace('→', '>')),
          description: style.dim,
          scrollInfo: style.dim,
          noMatch: style.dim,
        },
      },
      { autocompleteMaxVisible: LISTED },
    );
    if (completion !== null)
      editor.setAutocompleteProvider({
        getSuggestions: async (...of) => {
          const found = await completion.getSuggestions(...of);
          const items = found?.items.map((item) =>
            item.description
              ? { ...item, description: item.description + WHOLE }
              : { ...item, label: item.label + WHOLE },
          );
          return found && { ...found, items: items ?? [] };
        },
        applyCompletion: (...of) => {
          // Tab on a folder goes on inside; Enter takes the folder.
          if (/\/"?$/.test(of[3].value) && matchesKey(this.#key, 'tab'))
            queueMicrotask(() => editor.listInside());
          return completion.applyCompletion(...of);
        },
      });
    editor.focused = true;
    editor.onSubmit = (text) => {
      this.#vim.insert();
      this.onSubmit(decoded(text));
    };
    return editor;
  }
}

/** Encodes text for the editor: removes control characters, which a terminal would execute, and replaces tabs by placeholders. */
function encoded(text: string): string {
  return text
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(TAB, '')
    .replaceAll('\t', TAB)
    .replaceAll(/(?!\n)\p{Cc}/gu, '');
}

function decoded(text: string): string {
  return text.replaceAll(TAB, '\t');
}

/** Matches the library's markers of long pastes. */
const MARKER = /\[paste #\d+ (?:\+(\d+) (lines)|(\d+) (chars))\]/g;

function pastesIn(row: string): string {
  return row.replaceAll(MARKER, (_, lines?: string, _lines?: string, characters?: string) =>
    lines === undefined
      ? `[pasted ${Number(characters).toLocaleString('en-US')} chars]`
      : `[pasted ${Number(lines).toLocaleString('en-US')} lines]`,
  );
}

/** Around the letter under the cursor that the library paints. */
const PAINTED = renderFakeCursor('|').split('|');

/** Removes the cursor that the library paints; the terminal's own cursor is placed there. */
function withoutPaintedCursor(line: string): string {
  const unpainted = [CURSOR_MARKER, ...PAINTED].reduce((rest, sign) => rest.replace(sign, ''), line);
  return pastesIn(unpainted.replaceAll(TAB, ' ')).trimEnd();
}

/** Number of hidden rows of the text, above and below the visible ones. */
interface HiddenRows {
  readonly above: number;
  readonly below: number;
}

interface EditorLayOut {
  readonly rows: readonly string[];
  readonly hidden: HiddenRows;
  /** Rows of the completion list. */
  readonly list: readonly string[];
}

/** Share of the screen's rows that the library's editor takes. */
const SHARE = 0.3;
/** Rows of the list of completions, if there is room. */
const LISTED = 10;

interface Snapshot {
  readonly state: object;
  readonly pastes: ReadonlyMap<number, string>;
  readonly pasteCounter: number;
}

/** What the library keeps to itself: its undo, and the list of completions without a key. */
interface Inner extends Snapshot {
  readonly state: { lines: string[]; cursorLine: number };
  pushUndoSnapshot(): void;
  exitHistoryBrowsing(): void;
  setCursorCol(column: number): void;
  requestAutocomplete(how: { readonly force: boolean; readonly explicitTab: boolean }): void;
}

/** The library's editor, laid out as separate parts without borders. */
class BorderlessEditor extends Editor implements VimDraft {
  #above = 0;
  #below = 0;
  readonly #inner = this as unknown as Inner;
  /** What was undone, the newest last, each with the text that was left: something else that was written ends the redo. */
  #undone: { readonly before: Snapshot; readonly left: string }[] = [];

  override handleInput(data: string): void {
    if (!matchesKey(data, 'ctrl+-')) return super.handleInput(data);
    const { state, pastes, pasteCounter } = this.#inner;
    const before = structuredClone({ state, pastes, pasteCounter });
    const text = this.getText();
    super.handleInput(data);
    if (this.getText() !== text) this.#undone.push({ before, left: this.getText() });
  }

  redo(): void {
    const undone = this.#undone.pop();
    if (undone?.left !== this.getText()) this.#undone = [];
    else {
      const { state, ...pastes } = undone.before;
      this.#inner.pushUndoSnapshot();
      Object.assign(this.#inner.state, state);
      Object.assign(this, pastes);
    }
  }

  get text(): string {
    return this.getText();
  }

  get at(): number {
    const { line, col } = this.getCursor();
    return this.getLines()
      .slice(0, line)
      .reduce((sum, { length }) => sum + length + 1, col);
  }

  press(key: keyof typeof VIM_PRESSES): void {
    this.handleInput(VIM_PRESSES[key]);
  }

  put(text: string | null, at: number): void {
    const { state } = this.#inner;
    if (text !== null) {
      this.#inner.exitHistoryBrowsing();
      this.#inner.pushUndoSnapshot();
      state.lines = text.split('\n');
    }
    const before = this.text.slice(0, at).split('\n');
    state.cursorLine = before.length - 1;
    this.#inner.setCursorCol(before.at(-1)?.length ?? 0);
  }

  listInside(): void {
    const { line, col } = this.getCursor();
    if (!/\/"?$/.test((this.getLines()[line] ?? '').slice(0, col))) return;
    this.#inner.requestAutocomplete({ force: true, explicitTab: false });
  }

  layOut(width: number, max_rows: number): EditorLayOut {
    this.setAutocompleteMaxVisible(Math.min(LISTED, max_rows - 2));
    // The library derives its rows from the height of the screen.
    Object.assign(this.tui.terminal, { rows: Math.ceil(max_rows / SHARE) });
    const lines = this.render(width);
    const end = lines.indexOf(BORDER, 1);
    const rows = lines.slice(1, end);
    const list = lines.slice(end + 1);
    const shown = Math.min(rows.length, max_rows);
    // The library shows at least five rows: only those around the caret are kept.
    const caret = Math.max(
      0,
      rows.findIndex((row) => row.includes(CURSOR_MARKER)),
    );
    const first = Math.min(Math.max(0, caret - shown + 1), rows.length - shown);
    return {
      rows: rows.slice(first, first + shown),
      hidden: { above: this.#above + first, below: this.#below + rows.length - first - shown },
      list,
    };
  }

  protected override renderTopBorder(_width: number, hidden: number): string {
    this.#above = hidden;
    return BORDER;
  }

  protected override renderBottomBorder(_width: number, hidden: number): string {
    this.#below = hidden;
    return BORDER;
  }
}

/** Marks the borders in the library's output: no row of text contains a line break. */
const BORDER = '\n';
