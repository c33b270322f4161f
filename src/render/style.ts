// Text for people, on any terminal: colours, signs, widths; this folder has what the command line, the terminal UI and channels share.
import { createRequire } from 'node:module';
import { stripVTControlCharacters } from 'node:util';

/** What a stream can show. */
export interface Style {
  readonly colour: boolean;
  readonly unicode: boolean;
  /** Instead of the terminal's own colours. It may change once: when the terminal has told its background. */
  readonly theme?: Theme | undefined;
}

/** The same for the terminal UI. Accessible, for screen readers: no box drawing, no spinners, words instead of signs, nothing moves by itself. */
export interface UiStyle extends Style {
  readonly accessible: boolean;
  /** Addresses are links of the terminal. Default false. */
  readonly links?: boolean;
}

/** What each paint is (ECMA-48, SGR), and what ends it. */
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

/** `--no-color` > `NO_COLOR` > `FORCE_COLOR` > the terminal; `TERM=dumb` is plain. */
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
  return stream.isTTY === true && env.TERM !== 'dumb';
}

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
  // Behind a colour within it, this one goes on.
  return `${begin}${text.includes(end) ? text.replaceAll(end, `${end}${begin}`) : text}${end}`;
}

const ASCII = {
  '·': '|',
  '–': '-',
  '⑂': '>',
  '●': '*',
  '┆': '|',
  '…': '...',
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

/** Made for the first text that is cut: it takes as long as a command. */
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

/** Fast path: text whose characters are one column each, as all our own signs are. Measuring graphemes takes a hundred times as long. */
const PLAIN = /^[\x20-\x7e\u2500-\u257f\u2800-\u28ff\u2190-\u2193·…–›•●○◌◐◔▸✓✗✎⑂]*$/;

function isPlain(text: string): boolean {
  return PLAIN.test(text);
}

let measure: typeof import('string-width').default | undefined;

/** Columns that a text takes on a terminal; colours take none. */
export function columnsOf(text: string): number {
  const bare = text.includes('\u001b') ? stripVTControlCharacters(text) : text;
  if (isPlain(bare)) return bare.length;
  // Loaded for the first text that is not plain: its patterns are compiled with the tables of Unicode.
  measure ??= (createRequire(import.meta.url)('string-width') as typeof import('string-width')).default;
  return measure(bare);
}

export function pad(text: string, width: number, side: 'left' | 'right' = 'right'): string {
  const space = ' '.repeat(Math.max(0, width - columnsOf(text)));
  return side === 'right' ? text + space : space + text;
}
