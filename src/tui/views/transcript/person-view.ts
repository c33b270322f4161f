import { readAttachments } from '../../../records/conversation/attached-text.ts';
import { clean } from '../../../render/clean.ts';
import type { UiStyle } from '../../../render/style.ts';
import { line } from '../../text/line.ts';
import { wrapInPieces } from '../../text/wrap.ts';

/** A message of the person: what they wrote, and one line for each attachment; opened, with the text of all of them. */
export function* personView(
  text: string,
  opened: boolean,
  width: number,
  style: UiStyle,
): Generator<readonly string[]> {
  const attached = opened ? null : readAttachments(text);
  let mark = style.accessible ? 'You: ' : '> ';
  for (const rows of wrapInPieces(attached?.text ?? text, width - mark.length, style))
    yield rows.map((row) => {
      const before = mark;
      mark = ' '.repeat(style.accessible ? 0 : mark.length);
      return line(style, width, [
        ['cyan', before],
        ['bold', row],
      ]);
    });
  if (attached !== null) yield attached.labels.map((label) => attachedLine(label, width, style));
}

function attachedLine(label: string, width: number, style: UiStyle): string {
  return line(style, width, [['dim', `${style.accessible ? 'attached: ' : '  + '}${clean(label)}`]]);
}
