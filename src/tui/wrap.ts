import { wrapTextWithAnsi } from '@earendil-works/pi-tui';
import { cleanLines } from '../render/clean.ts';
import { columnsOf, fit, type Style } from '../render/style.ts';

const TAB = '   ';

/** Foreign text as lines that fit: cleaned, broken at words where that is possible, between characters where it is not. */
export function wrap(text: string, width: number, style: Style): string[] {
  const room = Math.max(1, width);
  return wrapTextWithAnsi(cleanLines(text).replaceAll('\t', TAB), room).map((row) => {
    const line = row.trimEnd();
    return columnsOf(line) <= room ? line : fit(line, room, style);
  });
}
