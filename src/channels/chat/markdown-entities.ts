import { Lexer, type MarkedToken, type Token, type Tokens } from 'marked';
import { isCostlyMarkdown, MARKED_MAX } from '../../render/markdown/costly-markdown.ts';
import { columnsOf } from '../../render/style.ts';
import type { FormattedText } from './formatted-text.ts';
import { TextBuilder } from './text-builder.ts';

/** Maximum length of a paragraph that is parsed in one piece: some constructs take quadratic time. */
const RUN_MAX = 3_000;
/** Protocols that links may use: no scripts, no files of the reader's machine. */
const LINK_PROTOCOLS: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:', 'tg:']);
const LINK_MAX = 2_048;
const LANGUAGE = /^[\w+#.-]{1,32}$/;

/**
 * Converts Markdown from a model to plain text and entities. Never throws: text that is not Markdown or not supported, and links that must not be
 * followed, are kept as written.
 */
export function markdownEntities(markdown: string): FormattedText {
  const source = markdown.toWellFormed().replaceAll('\0', '\u2400').replaceAll(/\r\n?/g, '\n');
  if (source.length > MARKED_MAX || isCostlyMarkdown(source)) return { text: source, entities: [] };
  try {
    const builder = new TextBuilder();
    writeBlocks(builder, lex(source));
    return builder.build();
  } catch {
    // Where the parser fails, only the formatting is lost.
    return { text: source, entities: [] };
  }
}

function lex(source: string): Token[] {
  const lexer = new Lexer({ gfm: true });
  lexer.blockTokens(source, lexer.tokens);
  for (const { src, tokens } of lexer.inlineQueue)
    for (const run of runs(src)) lexer.inlineTokens(run, tokens);
  return lexer.tokens;
}

function* runs(text: string): Generator<string> {
  let start = 0;
  while (text.length - start > RUN_MAX) {
    const limit = start + RUN_MAX;
    const found = Math.max(text.lastIndexOf('\n', limit), text.lastIndexOf(' ', limit));
    const low = text.charCodeAt(limit) >= 0xdc00 && text.charCodeAt(limit) <= 0xdfff;
    const end = found > start ? found : low ? limit - 1 : limit;
    yield text.slice(start, end);
    start = end;
  }
  yield text.slice(start);
}

function writeBlocks(builder: TextBuilder, tokens: readonly Token[]): void {
  let before: Token | null = null;
  for (const token of tokens as readonly MarkedToken[]) {
    if (token.type === 'space') {
      if (before !== null) before = token;
      continue;
    }
    if (before !== null && before.type !== 'checkbox') builder.write(before.type === 'space' ? '\n\n' : '\n');
    writeBlock(builder, token);
    before = token;
  }
}

function writeBlock(builder: TextBuilder, token: MarkedToken): void {
  switch (token.type) {
    case 'heading':
      return builder.styled('bold', () => writeInline(builder, token.tokens));
    case 'paragraph':
      return writeInline(builder, token.tokens);
    case 'code':
      return writeCode(builder, token);
    case 'blockquote':
      return builder.quoted(() => writeBlocks(builder, token.tokens));
    case 'list':
      return writeList(builder, token);
    case 'table':
      return builder.pre(tableText(token, (cell) => plain(cell.tokens)));
    case 'hr':
      return builder.write('———');
    case 'html':
    case 'def':
      return builder.write(token.raw.trimEnd());
    default:
      return writeInline(builder, [token]);
  }
}

function writeCode(builder: TextBuilder, token: Tokens.Code): void {
  if (token.text.trim() === '') return builder.write(token.raw.trimEnd());
  const info = (token.lang ?? '').trim();
  const word = info.split(/\s/, 1)[0] ?? '';
  const language = LANGUAGE.test(word) ? word : '';
  // The rest of the info string, after the language, must not get lost.
  const rest = info.slice(language.length).trimStart();
  builder.pre(rest === '' ? token.text : `${rest}\n${token.text}`, language);
}

function writeList(builder: TextBuilder, list: Tokens.List): void {
  list.items.forEach((item, index) => {
    if (index > 0) builder.write(list.loose ? '\n\n' : '\n');
    const marker = list.ordered ? `${Number(list.start) + index}. ` : item.task ? '' : '• ';
    builder.write(marker);
    builder.indented(' '.repeat(marker.length || 2), () => writeBlocks(builder, item.tokens));
  });
}

function writeInline(builder: TextBuilder, tokens: readonly Token[]): void {
  for (const token of tokens as readonly MarkedToken[]) writeSpan(builder, token);
}

function writeSpan(builder: TextBuilder, token: MarkedToken): void {
  switch (token.type) {
    case 'strong':
      return builder.styled('bold', () => writeInline(builder, token.tokens));
    case 'em':
      return builder.styled('italic', () => writeInline(builder, token.tokens));
    case 'del':
      return builder.styled('strikethrough', () => writeInline(builder, token.tokens));
    case 'codespan':
      return builder.code(token.text);
    case 'link':
    case 'image':
      return writeLink(builder, token);
    case 'br':
      return builder.write('\n');
    case 'checkbox':
      return builder.write(token.checked ? '☑ ' : '☐ ');
    case 'escape':
      return builder.write(token.text);
    case 'text':
      return token.tokens === undefined ? builder.write(token.text) : writeInline(builder, token.tokens);
    default:
      return builder.write(token.raw);
  }
}

function writeLink(builder: TextBuilder, token: Tokens.Link | Tokens.Image): void {
  // Telegram makes links of bare URLs by itself.
  if (token.type === 'link' && (token.autolink === true || token.text === token.href))
    return builder.write(token.text);
  const target = linkTarget(token.href);
  if (target === null || plain(token.tokens).trim() === '') return builder.write(token.raw);
  builder.link(target, () => writeInline(builder, token.tokens));
}

function plain(tokens: readonly Token[]): string {
  const builder = new TextBuilder();
  writeInline(builder, tokens);
  return builder.build().text;
}

/** The URL of a link; null when the link must be shown as it was written. */
function linkTarget(href: string): string | null {
  const url = URL.parse(href);
  if (url === null || !LINK_PROTOCOLS.has(url.protocol)) return null;
  return url.href.length <= LINK_MAX ? url.href : null;
}

/** Maximum width to which cells are padded, so that one long cell does not widen every other row. */
const COLUMN_MAX = 32;

/** Formats a table in columns of fixed width, for a `pre` entity; returns it as written when a row has more cells than the head. */
function tableText(table: Tokens.Table, textOf: (cell: Tokens.TableCell) => string): string {
  const rows = [table.header, ...table.rows].map((cells) =>
    cells.map((cell) => textOf(cell).replaceAll('\n', ' ')),
  );
  if (!isWhole(table)) return table.raw.trimEnd();
  const widths = table.header.map((_, column) =>
    Math.min(COLUMN_MAX, Math.max(1, ...rows.map((cells) => columnsOf(cells[column] ?? '')))),
  );
  const lines = rows.map((cells) => line(cells, widths, table.align));
  return [lines[0], widths.map((width) => '─'.repeat(width)).join('─┼─'), ...lines.slice(1)].join('\n');
}

function line(cells: readonly string[], widths: readonly number[], align: Tokens.Table['align']): string {
  const padded = widths.map((width, column) => {
    const cell = cells[column] ?? '';
    const space = Math.max(0, width - columnsOf(cell));
    const left = align[column] === 'right' ? space : align[column] === 'center' ? Math.floor(space / 2) : 0;
    return ' '.repeat(left) + cell + ' '.repeat(space - left);
  });
  return padded.join(' │ ').trimEnd();
}

/** Whether the parser kept all cells: it drops those beyond the last column of the head. */
function isWhole(table: Tokens.Table): boolean {
  const bare = (text: string) => text.replaceAll(/[\s|:\\-]/g, '');
  const cells = [table.header, ...table.rows].flat().map((cell) => cell.text);
  return bare(cells.join('')) === bare(table.raw);
}
