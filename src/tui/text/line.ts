import { columnsOf, fit, type Paint, paint, sign, type UiStyle, withSigns } from '../../render/style.ts';

/** A piece of a line, without colours or line breaks of its own; optionally with a colour. */
export type Part = string | readonly [Paint, string];

/** Joins parts to a line, truncated to the width; colours take no columns and are always reset. */
export function line(style: UiStyle, width: number, row: readonly Part[]): string {
  const parts = rowWithSigns(row, style);
  const plain = parts.map(partText).join('');
  const cut = fit(plain, width, style);
  if (cut === plain) return parts.map((part) => painted(part, partText(part), style)).join('');
  const ellipsis = sign(style, '…').slice(0, Math.max(0, width));
  let left = cut.length - ellipsis.length;
  let out = '';
  for (const part of parts) {
    const text = partText(part).slice(0, left);
    left -= text.length;
    if (text !== '') out += painted(part, text, style);
    if (left === 0) return out + painted(part, ellipsis, style);
  }
  return out;
}

/** A row in what the terminal shows: to be measured where its end matters. */
export function rowWithSigns(row: readonly Part[], style: UiStyle): readonly Part[] {
  if (style.unicode) return row;
  return row.map((part) =>
    typeof part === 'string' ? withSigns(part, style) : [part[0], withSigns(part[1], style)],
  );
}

function partText(part: Part): string {
  return typeof part === 'string' ? part : part[1];
}

function painted(part: Part, text: string, style: UiStyle): string {
  return typeof part === 'string' || text === '' ? text : paint(style, part[0], text);
}

export function separator(style: UiStyle): string {
  return style.accessible ? ' - ' : ` ${sign(style, '·')} `;
}

export function columns(parts: readonly Part[]): number {
  return columnsOf(parts.map(partText).join(''));
}

/** A rule over the whole width; none in accessible mode. */
export function rule(style: UiStyle, width: number): string[] {
  return style.accessible ? [] : [line(style, width, [['dim', sign(style, '─').repeat(Math.max(0, width))]])];
}
