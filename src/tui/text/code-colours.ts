import { codeSpans } from '../../render/markdown/code-spans.ts';
import { paint, type UiStyle } from '../../render/style.ts';

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
