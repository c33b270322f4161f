import { Markdown, type MarkdownTheme, setCapabilityOverrides } from '@earendil-works/pi-tui';
import { cleanLines } from '../../render/clean.ts';
import { isCostlyMarkdown, MARKED_MAX } from '../../render/costly-markdown.ts';
import { columnsOf, type Paint, paint } from '../../render/style.ts';
import type { Look } from '../look.ts';
import { codeColours } from './code-colours.ts';
import { cutPieces, type Piece } from './markdown-pieces.ts';
import { wrap } from './wrap.ts';

// A link shows where it leads, the same on every terminal: what a model writes may hide that.
setCapabilityOverrides({ hyperlinks: false, images: null });

/** What comes after so many paragraphs is shown as it was written. */
const PIECES_MAX = 500;

/** Markdown as lines that fit the width, a piece of it at a time. */
export function* markdown(text: string, width: number, look: Look): Generator<readonly string[]> {
  const room = Math.max(1, width);
  let [index, empty] = [0, true];
  for (const piece of cutPieces(text, null)) {
    const lines = linesOf(text, piece, index, room, look);
    index += 1;
    yield lines.length > 0 && !empty && piece.gap ? ['', ...lines] : lines;
    empty &&= lines.length === 0;
  }
}

/** The end of a text that grows: only its last piece is rendered again, and nothing that is not shown. */
export class MarkdownTail {
  #text = '';
  #width = 0;
  #look: Look | null = null;
  #pieces: Piece[] = [];
  #rendered: (readonly string[] | undefined)[] = [];

  /** The last lines of it, `rows` at least where it has as many. */
  lines(text: string, width: number, look: Look, rows: number): readonly string[] {
    const same = this.#look !== null && sameLook(look, this.#look) && width === this.#width;
    if (!same || !text.startsWith(this.#text)) {
      this.#pieces = [];
      this.#rendered = [];
    }
    if (!same || text !== this.#text) {
      const resumed = this.#pieces.pop() ?? null;
      this.#rendered.length = this.#pieces.length;
      for (const piece of cutPieces(text, resumed)) this.#pieces.push(piece);
    }
    [this.#text, this.#width, this.#look] = [text, width, look];
    return this.#last(rows, look);
  }

  #last(rows: number, look: Look): readonly string[] {
    const parts: (readonly string[])[] = [];
    let [count, gap] = [0, false];
    for (let index = this.#pieces.length - 1; index >= 0 && count < rows; index -= 1) {
      const piece = this.#pieces[index] as Piece;
      const lines =
        this.#rendered[index] ?? linesOf(this.#text, piece, index, Math.max(1, this.#width), look);
      this.#rendered[index] = lines;
      if (lines.length === 0) continue;
      if (gap) parts.push(['']);
      parts.push(lines);
      count += lines.length + (gap ? 1 : 0);
      gap = piece.gap;
    }
    return parts.reverse().flat();
  }
}

function linesOf(text: string, piece: Piece, index: number, width: number, look: Look): readonly string[] {
  return piece.start >= MARKED_MAX || index >= PIECES_MAX
    ? asWritten(text.slice(piece.start, piece.end), width, look)
    : renderPiece(text, piece, piece.end === text.length, width, look);
}

function sameLook(a: Look, b: Look): boolean {
  return a.colour === b.colour && a.unicode === b.unicode && a.accessible === b.accessible;
}

function renderPiece(text: string, piece: Piece, last: boolean, width: number, look: Look): string[] {
  const source = text.slice(piece.start, piece.end);
  if (piece.code === null)
    return isCostlyMarkdown(source)
      ? asWritten(source, width, look)
      : render(cleanLines(source), width, look);
  const { fence, opens, closes } = piece.code;
  const rows = source.replace(/\n$/, '').split('\n');
  const body = rows.slice(opens ? 1 : 0, closes ? -1 : undefined).join('\n');
  const lines = render(`${fence.marker}${fence.language}\n${cleanLines(body)}\n${fence.marker}`, width, look);
  const ends = closes || last;
  return lines.slice(opens || look.accessible ? 0 : 1, ends || look.accessible ? undefined : -1);
}

function asWritten(source: string, width: number, look: Look): string[] {
  return source.trim() === '' ? [] : wrap(source.replace(/\n+$/, ''), width, look);
}

function render(source: string, width: number, look: Look): string[] {
  if (source.trim() === '') return [];
  let lines: string[];
  try {
    const options = { preserveOrderedListMarkers: true, preserveBackslashEscapes: false, renderLatex: false };
    lines = new Markdown(source, 0, 0, theme(look), undefined, options).render(width);
  } catch {
    // Whatever a model writes is shown, if need be as it was written.
    return wrap(source, width, look);
  }
  const shown = lines.flatMap((line) => fitted(line, width, look)).map((line) => line.trimEnd());
  while (shown.at(-1) === '') shown.pop();
  while (shown[0] === '') shown.shift();
  return shown;
}

const BORDER = /^[\s┌─┬┐├┼┤└┴┘]+$/u;

function fitted(line: string, width: number, look: Look): string[] {
  if (look.accessible) {
    if (BORDER.test(line) && line.trim() !== '') return [];
    const spoken = line.replace(/^\s*│ */, '').replace(/ *│\s*$/, '');
    return wrap(spoken.replaceAll(/ *│ */g, '; '), width, look);
  }
  const drawn = look.unicode ? line : line.replaceAll(/[\u2500-\u257f]/g, asciiOf);
  // The two libraries may count a rare character differently; a line that is too wide would break the screen.
  return columnsOf(drawn.trimEnd()) <= width ? [drawn] : wrap(drawn, width, look);
}

function asciiOf(drawing: string): string {
  if (drawing === '─' || drawing === '━') return '-';
  return drawing === '│' || drawing === '┃' ? '|' : '+';
}

function theme(look: Look): MarkdownTheme {
  const by = (format: Paint) => (text: string) => paint(look, format, text);
  return {
    heading: by('cyan'),
    link: by('blue'),
    linkUrl: by('dim'),
    code: by('yellow'),
    codeBlock: (text) => text,
    codeBlockBorder: look.accessible ? () => '' : by('dim'),
    quote: by('dim'),
    quoteBorder: by('dim'),
    hr: by('dim'),
    listBullet: by('cyan'),
    bold: by('bold'),
    italic: by('italic'),
    strikethrough: by('strikethrough'),
    underline: by('underline'),
    highlightCode: (code, language) => codeColours(code, language, look),
  };
}
