// Terminal text: colours, signs, widths. This folder has the text rendering that the command line, the terminal UI and channels share.
import { createRequire } from 'node:module';
import { stripVTControlCharacters } from 'node:util';

/** Display capabilities of a stream. */
export interface Style {
  readonly colour: boolean;
  readonly unicode: boolean;
  /** Replaces the terminal's own colours. It may change once, when the terminal has reported its background. */
  readonly theme?: Theme | undefined;
}

/** Style of the terminal UI. `accessible`, for screen readers: no box drawing, no spinners, words instead of signs, nothing moves by itself. */
export interface UiStyle extends Style {
  readonly accessible: boolean;
  /** Whether addresses are shown as terminal hyperlinks. Default false. */
  readonly links?: boolean;
}

/** SGR parameters (ECMA-48) that begin and end each paint. */
const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  italic: [3, 23],
  underline: [4, 24],
  strikethrough: [9, 29],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  magenta: [35, 39],
  cyan: [36, 39],
} as const;

export type Paint = keyof typeof CODES;

/** Foreground colours as parameters of SGR: `31`, `38;5;124`, `38;2;175;0;0`. */
export type Theme = Readonly<Partial<Record<Paint, string>>>;

/** Style of a stream. Colour by precedence: `--no-color` > `NO_COLOR` > `FORCE_COLOR` > the terminal; `TERM=dumb` is plain. */
export function styleOf(
  stream: { readonly isTTY?: boolean },
  no_color: boolean,
  env: NodeJS.ProcessEnv,
): Style {
  return { colour: !no_color && wantsColour(stream, env), unicode: showsUnicode(env) };
}

function wantsColour(stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false';
  return stream.isTTY === true && !COLOURLESS.test(env.TERM ?? '');
}

/** Terminals for which terminfo has no colours. */
const COLOURLESS = /^(?:dumb|vt\d+.*)$|-(?:m|mono)$/;

function showsUnicode(env: NodeJS.ProcessEnv): boolean {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG;
  if (locale) return /utf-?8/i.test(locale);
  return process.platform === 'darwin' || env.WT_SESSION !== undefined;
}

export function paint(style: Style, format: Paint, text: string): string {
  if (!style.colour) return text;
  const themed = style.theme?.[format];
  const begin = `\x1b[${themed ?? CODES[format][0]}m`;
  const end = `\x1b[${themed === undefined ? CODES[format][1] : 39}m`;
  // Resumes this paint after one nested in it has ended.
  return `${begin}${text.includes(end) ? text.replaceAll(end, `${end}${begin}`) : text}${end}`;
}

const ASCII = {
  '·': '|',
  '–': '-',
  '»': '>',
  '●': '*',
  '┆': '|',
  '…': '...',
  '“': '"',
  '”': '"',
  '!': '!',
  '◐': '*',
  '◔': '~',
  '◌': '.',
  '○': 'o',
  '✓': '+',
  '✗': 'x',
  '↑': '^',
  '↓': 'v',
  '←': '<',
  '→': '>',
  '▸': '>',
  '•': '#',
  '✎': '~',
  '›': '>',
  '█': '#',
  '░': '.',
  '─': '-',
  '━': '=',
  '│': '|',
  '┌': '+',
  '┐': '+',
  '└': '+',
  '┘': '+',
} as const;

export type Sign = keyof typeof ASCII;

/** A sign, or its substitute on a terminal that shows ASCII only. */
export function sign(style: Style, unicode: Sign): string {
  return style.unicode ? unicode : ASCII[unicode];
}

const SIGNS = new RegExp(`[${Object.keys(ASCII).join('')}]`, 'g');

/** A text with the substitutes of all its signs on a terminal that shows ASCII only. */
export function withSigns(text: string, style: Style): string {
  return style.unicode ? text : text.replaceAll(SIGNS, (one) => ASCII[one as Sign]);
}

/** Created for the first text that is cut: creating it takes as long as a whole command. */
let graphemes: Intl.Segmenter | undefined;

/** Truncates to `width` columns, by grapheme, with an ellipsis. */
export function fit(text: string, width: number, style: Style): string {
  if (width <= 0) return '';
  if (text.length <= width && isPlain(text)) return text;
  const ellipsis = sign(style, '…').slice(0, width);
  const room = width - ellipsis.length;
  let used = 0;
  let cut = 0;
  // Stops at the cut: the text may be long.
  graphemes ??= new Intl.Segmenter();
  for (const { segment, index } of graphemes.segment(text)) {
    used += columnsOf(segment);
    if (used > width) return `${text.slice(0, cut)}${ellipsis}`;
    if (used <= room) cut = index + segment.length;
  }
  return text;
}

/** Fast path: text whose characters are one column each, which includes every `Sign`. Measuring graphemes takes a hundred times as long. */
const PLAIN = /^[\x20-\x7e\u2500-\u259f\u2800-\u28ff\u2190-\u2193·…–›•●○◌◐◔▸✓✗✎»]*$/;

function isPlain(text: string): boolean {
  return PLAIN.test(text);
}

let measure: typeof import('string-width').default | undefined;

/** Columns that a text takes on a terminal; colours take none. */
export function columnsOf(text: string): number {
  const bare = text.includes('\u001b') ? stripVTControlCharacters(text) : text;
  if (isPlain(bare)) return bare.length;
  // Loaded for the first text that is not plain: compiling its Unicode patterns is slow.
  measure ??= (createRequire(import.meta.url)('string-width') as typeof import('string-width')).default;
  return measure(bare);
}

export function pad(text: string, width: number, side: 'left' | 'right' = 'right'): string {
  const space = ' '.repeat(Math.max(0, width - columnsOf(text)));
  return side === 'right' ? text + space : space + text;
}
