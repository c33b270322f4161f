import { columnsOf, fit, type Paint, paint, sign } from '../../render/style.ts';
import type { Look } from '../look.ts';

/** Text of one line, without colours or line breaks of its own; with a paint if it has one. */
export type Part = string | readonly [Paint, string];

/** One line of parts, cut to the width as a whole: colours never count as columns and are always closed. */
export function line(look: Look, width: number, parts: readonly Part[]): string {
  const plain = parts.map(textOf).join('');
  const cut = fit(plain, width, look);
  if (cut === plain) return parts.map((part) => painted(part, textOf(part), look)).join('');
  const ellipsis = sign(look, '…').slice(0, Math.max(0, width));
  let left = cut.length - ellipsis.length;
  let out = '';
  for (const part of parts) {
    const text = textOf(part).slice(0, left);
    left -= text.length;
    if (text !== '') out += painted(part, text, look);
    if (left === 0) return out + painted(part, ellipsis, look);
  }
  return out;
}

function textOf(part: Part): string {
  return typeof part === 'string' ? part : part[1];
}

function painted(part: Part, text: string, look: Look): string {
  return typeof part === 'string' || text === '' ? text : paint(look, part[0], text);
}

/** Columns that the parts take side by side. */
export function columns(parts: readonly Part[]): number {
  return columnsOf(parts.map(textOf).join(''));
}

/** A rule over the whole width; none where lines are read aloud. */
export function rule(look: Look, width: number): string[] {
  return look.accessible ? [] : [line(look, width, [['dim', sign(look, '─').repeat(Math.max(0, width))]])];
}
