import { type FailureKind, isAboutContent } from '../../../records/conversation/failure.ts';
import type { EventContent, PlacedMessage } from '../../../records/conversation/message.ts';
import { clean } from '../../../render/clean.ts';
import { inOneLine } from '../../../render/plain-sight.ts';
import { type Paint, type Sign, sign, type UiStyle } from '../../../render/style.ts';
import { readWait } from '../../state/wait-result.ts';
import { line, type Part } from '../../text/line.ts';
import { wrap, wrapInPieces } from '../../text/wrap.ts';
import { waitRows } from './wait-rows.ts';

type EventMessage = Extract<PlacedMessage, { readonly kind: 'event' }>;
/** Of what was asked for; the question shows all of it. */
const ASKED_MAX = 400;

const LOOKS: Readonly<Record<EventContent['event'], readonly [Sign, Paint]>> = {
  killed: ['✗', 'red'],
  error: ['✗', 'red'],
  interrupted: ['!', 'yellow'],
  limit: ['!', 'yellow'],
  asked: ['!', 'yellow'],
  answered: ['·', 'dim'],
  retried: ['·', 'dim'],
  'left-out': ['·', 'yellow'],
  notice: ['·', 'yellow'],
  forked: ['⑂', 'green'],
  waited: ['●', 'green'],
};

/** What happened to an agent, for people: `✗ kill event: by you, 0 descendants`. */
export function* eventView(
  message: EventMessage,
  width: number,
  style: UiStyle,
): Generator<readonly string[]> {
  const { event, text } = message.content;
  const [glyph, paint] = LOOKS[event];
  const mark = style.accessible ? '' : `${sign(style, glyph)} `;
  const waited = event === 'waited' ? readWait(text) : null;
  if (waited !== null)
    return yield [line(style, width, [[paint, mark], 'wait ended']), ...waitRows(waited, width, style)];
  const below = ' '.repeat(mark.length);
  let before = mark;
  for (const rows of wrapInPieces(shownText(message), width - mark.length, style))
    yield rows.map((row) => {
      const parts: Part[] = [
        [paint, before],
        [paint, row],
      ];
      before = below;
      return line(style, width, parts);
    });
  const ways_out = wayOut(message).flatMap((text) => wrap(text, width - mark.length, style));
  yield ways_out.map((row) => line(style, width, [below, ['dim', row]]));
}

/** What may be typed about an error that halted the agent. */
function wayOut({ content }: EventMessage): string[] {
  const kind = content.event === 'error' ? content.data?.kind : undefined;
  if (typeof kind !== 'string') return [];
  return isAboutContent(kind as FailureKind)
    ? ['/retry without-last goes on without the refused message; /retry asks again']
    : ['/retry asks again'];
}

function shownText(message: EventMessage): string {
  const { event, text } = message.content;
  if (event === 'killed') return killText(message);
  return event === 'asked' ? inOneLine(text, ASKED_MAX) : text;
}

/** Its own kill needs no name; one that took it along names whom it was meant for. */
function killText({ agent_id, content }: EventMessage): string {
  const { by, target, descendants } = content.data ?? {};
  if (target !== agent_id || typeof by !== 'string' || typeof descendants !== 'number') return content.text;
  return `kill event: by ${clean(by)}, ${descendants === 1 ? '1 descendant' : `${descendants} descendants`}`;
}
