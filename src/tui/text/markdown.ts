import { Markdown, type MarkdownTheme, setCapabilityOverrides } from '@earendil-works/pi-tui';
import { cleanLines } from '../../render/clean.ts';
import { codeSpans } from '../../render/markdown/code-spans.ts';
import { isCostlyMarkdown, MARKED_MAX } from '../../render/markdown/costly-markdown.ts';
import { columnsOf, type Paint, paint, type Theme, type UiStyle } from '../../render/style.ts';
import { withLinks } from './links.ts';
import { cutPieces, type Piece } from './markdown-pieces.ts';
import { type Batches, wrap } from './wrap.ts';

// This folder renders text as lines that fit the width: Markdown, code with colours, plain text.

// Links show their targets on every terminal, since text written by a model could hide them.
setCapabilityOverrides({ hyperlinks: false, images: null });

/** Maximum pieces rendered as Markdown; the rest is shown as it is. */
const PIECES_MAX = 500;

/** Renders Markdown as lines that fit the width, piece by piece; `from`: the text before this offset is printed already. */
export function* markdown(text: string, width: number, style: UiStyle, from = 0): Batches {
  const room = Math.max(1, width);
  let [index, empty] = [0, from === 0];
  for (const whole of cutPieces(text, null)) {
    const piece = behind(whole, from);
    const lines = piece.end <= from ? [] : linesOf(text, piece, index, room, style);
    index += 1;
    yield lines.length > 0 && !empty && piece.gap ? ['', ...lines] : lines;
    empty &&= lines.length === 0;
  }
}

/** Renders the end of a growing text: only its last piece again, and nothing that is not shown. */
export class MarkdownTail {
  #text = '';
  #width = 0;
  #style: UiStyle | null = null;
  #theme: Theme | undefined;
  #pieces: Piece[] = [];
  #rendered: (readonly string[] | undefined)[] = [];

  /** Returns the last lines of the text, at least `rows` if it has as many from offset `from` on. */
  lines(text: string, width: number, style: UiStyle, rows: number, from = 0): readonly string[] {
    this.#read(text, width, style);
    return this.#last(rows, style, from);
  }

  /** Returns the first visible piece from offset `from` on that more text cannot change, with the offset of its end; null if there is none. */
  finished(
    text: string,
    width: number,
    style: UiStyle,
    from: number,
  ): { readonly lines: readonly string[]; readonly end: number } | null {
    this.#read(text, width, style);
    const first = this.#pieces.findLastIndex((piece) => piece.end <= from) + 1;
    for (let index = first; index < this.#pieces.length - 1; index += 1) {
      const { gap, end } = behind(this.#pieces[index] as Piece, from);
      const lines = this.#linesAt(index, style, from);
      if (lines.length > 0) return { lines: gap && from > 0 ? ['', ...lines] : lines, end };
    }
    return null;
  }

  #read(text: string, width: number, style: UiStyle): void {
    const { theme } = style;
    const same = style === this.#style && theme === this.#theme && width === this.#width;
    if (!same || !text.startsWith(this.#text)) {
      this.#pieces = [];
      this.#rendered = [];
    }
    if (!same || text !== this.#text) {
      const resumed = this.#pieces.pop() ?? null;
      this.#rendered.length = this.#pieces.length;
      for (const piece of cutPieces(text, resumed)) this.#pieces.push(piece);
    }
    [this.#text, this.#width, this.#style, this.#theme] = [text, width, style, theme];
  }

  #linesAt(index: number, style: UiStyle, from: number): readonly string[] {
    const whole = this.#pieces[index] as Piece;
    const piece = behind(whole, from);
    const kept = piece === whole ? this.#rendered[index] : undefined;
    const lines = kept ?? linesOf(this.#text, piece, index, Math.max(1, this.#width), style);
    if (piece === whole) this.#rendered[index] = lines;
    return lines;
  }

  #last(rows: number, style: UiStyle, from: number): readonly string[] {
    const parts: (readonly string[])[] = [];
    let [count, gap] = [0, false];
    for (let index = this.#pieces.length - 1; index >= 0 && count < rows; index -= 1) {
      const piece = behind(this.#pieces[index] as Piece, from);
      if (piece.end <= from) break;
      const lines = this.#linesAt(index, style, from);
      if (lines.length === 0) continue;
      if (gap) parts.push(['']);
      parts.push(lines);
      count += lines.length + (gap ? 1 : 0);
      gap = piece.gap;
    }
    if (gap && from > 0 && count < rows) parts.push(['']);
    return parts.reverse().flat();
  }
}

function behind(piece: Piece, from: number): Piece {
  if (piece.start >= from || piece.end <= from) return piece;
  const code = piece.code && { ...piece.code, opens: false };
  return { ...piece, start: from, gap: false, code };
}

function linesOf(
  text: string,
  piece: Piece,
  index: number,
  width: number,
  style: UiStyle,
): readonly string[] {
  return piece.start >= MARKED_MAX || index >= PIECES_MAX
    ? asWritten(text.slice(piece.start, piece.end), width, style)
    : renderPiece(text, piece, width, style);
}

function renderPiece(text: string, piece: Piece, width: number, style: UiStyle): string[] {
  const source = text.slice(piece.start, piece.end);
  if (piece.code === null)
    return isCostlyMarkdown(source)
      ? asWritten(source, width, style)
      : render(inWords(cleanLines(source)), width, style);
  const { fence, opens, closes, context } = piece.code;
  const rows = source.replace(/\n$/, '').split('\n');
  const body = rows.slice(opens ? 1 : 0, closes ? -1 : undefined).join('\n');
  if (body === '') return [];
  const before = cleanLines(text.slice(Math.min(context, piece.start), piece.start));
  const fenced = `${fence.marker}${fence.language}\n${cleanLines(body)}\n${fence.marker}`;
  return render(fenced, width, style, before);
}

/** Entities as the characters that they stand for, and no marks before the smaller headings; code spans stay as they are. */
function inWords(source: string): string {
  return source
    .replaceAll(/^#{3,6}(?=[ \t])/gm, '##')
    .replaceAll(
      /(`+)[\s\S]*?\1|&(amp|lt|gt|quot|apos|nbsp|#39);/g,
      (whole: string, _: string, name: string) =>
        name === undefined ? whole : ENTITIES[name as keyof typeof ENTITIES],
    );
}

const ENTITIES = {
  amp: '&',
  lt: '\\<',
  gt: '\\>',
  quot: '"',
  apos: "'",
  '#39': "'",
  nbsp: ' ',
} as const;

function asWritten(source: string, width: number, style: UiStyle): string[] {
  return source.trim() === '' ? [] : wrap(source.replace(/\n+$/, ''), width, style);
}

/** In place of a fence, whose line is left out; rendered text contains no such character. */
const FENCE = '\0';

/** `before`: code that precedes the source and is not rendered. */
function render(source: string, width: number, style: UiStyle, before = ''): string[] {
  if (source.trim() === '') return [];
  let lines: string[];
  try {
    const options = { preserveOrderedListMarkers: true, preserveBackslashEscapes: false, renderLatex: false };
    lines = new Markdown(source, 0, 0, markdownTheme(style, before), undefined, options)
      .render(width)
      .filter((one) => !one.includes(FENCE));
  } catch {
    // Text that the renderer fails on is shown as it is.
    return wrap(source, width, style);
  }
  const aligned = alignedTable(source, lines);
  const shown = aligned.flatMap((line) => fitted(line, width, style)).map((line) => line.trimEnd());
  while (shown.at(-1) === '') shown.pop();
  while (shown[0] === '') shown.shift();
  return [...withLinks(style, source, shown)];
}

const BORDER = /^[\s┌─┬┐├┼┤└┴┘]+$/u;

function fitted(line: string, width: number, style: UiStyle): string[] {
  if (style.accessible) {
    if (BORDER.test(line) && line.trim() !== '') return [];
    const spoken = line.replace(/^\s*│ */, '').replace(/ *│\s*$/, '');
    return wrap(spoken.replaceAll(/ *│ */g, '; '), width, style);
  }
  const drawn = style.unicode ? line : line.replaceAll(/[\u2500-\u257f]/g, asciiOf);
  // The libraries may measure a rare character differently; a line that is too wide would break the screen.
  return columnsOf(drawn.trimEnd()) <= width ? [drawn] : wrap(drawn, width, style);
}

function asciiOf(drawing: string): string {
  if (drawing === '─' || drawing === '━') return '-';
  return drawing === '│' || drawing === '┃' ? '|' : '+';
}

function markdownTheme(style: UiStyle, before: string): MarkdownTheme {
  const by = (format: Paint) => (text: string) => paint(style, format, text);
  return {
    heading: by('cyan'),
    link: by('blue'),
    linkUrl: by('dim'),
    code: by('yellow'),
    codeBlock: (text) => text,
    codeBlockBorder: () => FENCE,
    quote: by('dim'),
    quoteBorder: by('dim'),
    hr: by('dim'),
    listBullet: by('cyan'),
    bold: by('bold'),
    italic: by('italic'),
    strikethrough: by('strikethrough'),
    underline: by('underline'),
    highlightCode: (code, language) =>
      codeColours(before + code, language, style).slice(before.split('\n').length - 1),
  };
}

const SEPARATOR = /^[ >]*\|?[ ]*(?::?-+:?[ ]*\|[ ]*)*:?-+:?[ ]*\|?[ ]*$/m;
/** The border between two cells, and at both ends of a row. */
const BAR = '│';

/** Matches a cell, and captures all blanks but one after its text; colours may end there. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control sequences.
const CELL_END = /^ .*?( *) (?:\u001b\[[\d;]*m)*$/;

type Side = 'left' | 'right' | 'centre';

/** Aligns the cells of a drawn table as its separator row (`---:`) asks, which the library ignores; `source` contains at most one table. */
function alignedTable(source: string, lines: readonly string[]): readonly string[] {
  if (!source.includes('-:')) return lines;
  const row = SEPARATOR.exec(source)?.[0];
  if (row === undefined) return lines;
  const sides = row
    .replace(/^[ >]*\|?/, '')
    .replace(/\|?[ ]*$/, '')
    .split('|')
    .map(sideOf);
  return lines.map((line) => alignedRow(line, sides));
}

function sideOf(cell: string): Side {
  const rule = cell.trim();
  if (!rule.endsWith(':')) return 'left';
  return rule.startsWith(':') ? 'centre' : 'right';
}

/** Aligns the cells of a row; a row whose cells cannot be told apart stays as it is. */
function alignedRow(line: string, sides: readonly Side[]): string {
  const cells = line.split(BAR);
  if (cells.length !== sides.length + 2) return line;
  return cells
    .map((cell, index) => (index === 0 ? cell : alignedCell(cell, sides[index - 1] ?? 'left')))
    .join(BAR);
}

/** Moves the blanks after the text (half of them to centre it) before it, except for one at each end. */
function alignedCell(cell: string, side: Side): string {
  const behind = CELL_END.exec(cell)?.[1]?.length ?? 0;
  if (side === 'left' || behind === 0) return cell;
  const moved = side === 'right' ? behind : Math.floor(behind / 2);
  const end = cell.lastIndexOf(' '.repeat(behind + 1));
  return ` ${' '.repeat(moved)}${cell.slice(1, end)}${cell.slice(end + moved)}`;
}

/** Code as coloured lines; plain without colours, in an unknown language, or with a very long line. A colour never crosses a line. */
export function codeColours(code: string, language: string | undefined, style: UiStyle): string[] {
  const spans = style.colour ? codeSpans(code, language) : null;
  if (spans === null) return code.split('\n');
  const lines: string[] = [''];
  for (const [text, colour] of spans)
    text.split('\n').forEach((piece, index) => {
      if (index > 0) lines.push('');
      lines[lines.length - 1] += colour === null || piece === '' ? piece : paint(style, colour, piece);
    });
  return lines;
}
