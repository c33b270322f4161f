import { styleText } from 'node:util';
import stringWidth from 'string-width';

/** What a stream can show. */
export interface Style {
  readonly colour: boolean;
  readonly unicode: boolean;
}

export type Paint = Parameters<typeof styleText>[0];

/** `--no-color` > `NO_COLOR` > `FORCE_COLOR` > the terminal; `TERM=dumb` is plain. */
export function styleOf(
  stream: { readonly isTTY?: boolean },
  no_color: boolean,
  env: NodeJS.ProcessEnv,
): Style {
  const unicode =
    /utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || '') || process.platform === 'darwin';
  if (no_color || (env.NO_COLOR !== undefined && env.NO_COLOR !== '')) return { colour: false, unicode };
  if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '' && env.FORCE_COLOR !== '0')
    return { colour: true, unicode };
  return { colour: stream.isTTY === true && env.TERM !== 'dumb', unicode };
}

export function paint(style: Style, format: Paint, text: string): string {
  return style.colour ? styleText(format, text, { validateStream: false }) : text;
}

const graphemes = new Intl.Segmenter();

/** Cuts to so many columns, by grapheme; what is cut ends in an ellipsis. */
export function fit(text: string, width: number): string {
  if (width <= 0) return '';
  if (stringWidth(text) <= width) return text;
  let kept = '';
  let used = 0;
  for (const { segment } of graphemes.segment(text)) {
    const next = stringWidth(segment);
    if (used + next > width - 1) break;
    kept += segment;
    used += next;
  }
  return `${kept}…`;
}

export function pad(text: string, width: number, side: 'left' | 'right' = 'right'): string {
  const space = ' '.repeat(Math.max(0, width - stringWidth(text)));
  return side === 'right' ? text + space : space + text;
}
