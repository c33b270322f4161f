import { typedText } from '../../../records/conversation/facts/message-facts.ts';
import type { CaptureContent, UserContent } from '../../../records/conversation/message.ts';
import { cutText, endOfText } from '../../../records/text/cut-text.ts';
import { clean } from '../../../render/clean.ts';
import { type Paint, sign, type UiStyle } from '../../../render/style.ts';
import { line } from '../../text/line.ts';
import { type Batches, wrapInPieces } from '../../text/wrap.ts';

/** Limits above which a text, a paste in most cases, shows only its beginning and its end. */
const LINES_MAX = 30;
const LENGTH_MAX = 6_000;
const HEAD = { lines: 10, length: 2_000 };
const TAIL = { lines: 4, length: 800 };

/** A message of the person: what they wrote, and one line for each attachment; opened, with the text of all attachments. */
export function* personView(said: UserContent, opened: boolean, width: number, style: UiStyle): Batches {
  const attached = opened ? undefined : said.facts?.attached;
  let mark = style.accessible ? 'You: ' : '> ';
  for (const [paint, rows] of personRows(typedText(said.text, attached), opened, width - mark.length, style))
    yield rows.map((row) => {
      const before = mark;
      mark = ' '.repeat(style.accessible ? 0 : mark.length);
      return line(style, width, [
        ['cyan', before],
        [paint, row],
      ]);
    });
  const label_mark = style.accessible ? 'attached: ' : '  + ';
  if (attached !== undefined)
    yield attached.labels.map((label) => line(style, width, [['dim', `${label_mark}${clean(label)}`]]));
}

/** Captured text: shown, and never sent to a model. */
export function* captureView(
  { text, mark: edge }: CaptureContent,
  opened: boolean,
  width: number,
  style: UiStyle,
): Batches {
  const mark = style.accessible ? 'captured: ' : `${sign(style, '┆')} `;
  const begins = `${style.accessible ? '' : mark}capture begins: nothing of it is sent`;
  if (edge === 'begun') return yield [line(style, width, [['magenta', begins]])];
  for (const [paint, rows] of personRows(text, opened, width - mark.length, style))
    yield rows.map((row) => line(style, width, [['magenta', mark], paint === 'dim' ? ['dim', row] : row]));
}

/** The rows of what a person wrote, and how much of it is left out. */
function* personRows(
  text: string,
  opened: boolean,
  width: number,
  style: UiStyle,
): Generator<readonly [Paint, readonly string[]]> {
  const fold = opened ? null : foldOf(text);
  if (fold === null) {
    for (const rows of wrapInPieces(text, width, style)) yield ['bold', rows];
    return;
  }
  for (const rows of wrapInPieces(fold.head, width, style)) yield ['bold', rows];
  yield ['dim', [`${sign(style, '…')} ${fold.hidden}`]];
  for (const rows of wrapInPieces(fold.tail, width, style)) yield ['bold', rows];
}

function foldOf(
  text: string,
): { readonly head: string; readonly hidden: string; readonly tail: string } | null {
  const lines = text.split('\n');
  if (lines.length <= LINES_MAX && text.length <= LENGTH_MAX) return null;
  const many = lines.length > LINES_MAX;
  const head = cutText(many ? lines.slice(0, HEAD.lines).join('\n') : text, HEAD.length);
  const tail = endOfText(many ? lines.slice(-TAIL.lines).join('\n') : text, TAIL.length);
  const [left, what] = many
    ? [lines.length - HEAD.lines - TAIL.lines, 'lines']
    : [text.length - head.length - tail.length, 'characters'];
  return {
    head: head.toWellFormed(),
    hidden: `+${left.toLocaleString('en-US')} ${what}`,
    tail: tail.toWellFormed(),
  };
}
