import { type FailureKind, isAboutContent } from '../../../records/agent/failure.ts';
import type { EventContent, PlacedMessage } from '../../../records/conversation/message.ts';
import { clean } from '../../../render/clean.ts';
import { inOneLine } from '../../../render/plain-sight.ts';
import { type Paint, type Sign, sign, type UiStyle } from '../../../render/style.ts';
import { readWait } from '../../state/agents/waits.ts';
import { line, type Part } from '../../text/line.ts';
import { wrap, wrapInPieces } from '../../text/wrap.ts';
import { waitRows } from './wait-rows.ts';

type EventMessage = Extract<PlacedMessage, { readonly kind: 'event' }>;
/** Maximum characters of the call; the question shows all of it. */
const ASKED_MAX = 400;

const MARKS: Readonly<Record<EventContent['event'], readonly [Sign, Paint]>> = {
  killed: ['✗', 'red'],
  error: ['✗', 'red'],
  interrupted: ['!', 'yellow'],
  limit: ['!', 'yellow'],
  asked: ['!', 'yellow'],
  answered: ['·', 'dim'],
  retried: ['·', 'dim'],
  'left-out': ['·', 'yellow'],
  elided: ['·', 'dim'],
  checkpoint: ['·', 'yellow'],
  notice: ['·', 'yellow'],
  forked: ['⑂', 'green'],
  waited: ['●', 'green'],
};

/** An event of an agent: `✗ kill event: by you, 0 descendants`. */
export function* eventView(
  message: EventMessage,
  width: number,
  style: UiStyle,
): Generator<readonly string[]> {
  const { event, text } = message.content;
  const [glyph, paint] = MARKS[event];
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
  const commands = recovery(message).flatMap((text) => wrap(text, width - mark.length, style));
  yield commands.map((row) => line(style, width, [below, ['dim', row]]));
}

/** The commands that help after an error that halted the agent. */
function recovery({ content }: EventMessage): string[] {
  const kind = content.event === 'error' ? content.data?.kind : undefined;
  if (typeof kind !== 'string') return [];
  if (kind === 'auth')
    return ['the provider refuses the key: /setup tries another one; come back with /resume, then: /retry'];
  if (kind === 'no_credit') return ['pay in at the provider, then: /retry'];
  return isAboutContent(kind as FailureKind)
    ? ['/retry without-last goes on without the refused message; /retry asks again']
    : ['/retry asks again'];
}

function shownText(message: EventMessage): string {
  const { event, text } = message.content;
  if (event === 'killed') return killText(message);
  return event === 'asked' ? inOneLine(text, ASKED_MAX) : text;
}

/** When the agent itself was the target, its name is left out. */
function killText({ agent_id, content }: EventMessage): string {
  const { by, target, descendants } = content.data ?? {};
  if (target !== agent_id || typeof by !== 'string' || typeof descendants !== 'number') return content.text;
  return `kill event: by ${clean(by)}, ${descendants === 1 ? '1 descendant' : `${descendants} descendants`}`;
}
