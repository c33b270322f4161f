import { type FailureKind, isAboutContent } from '../../../records/agent/failure.ts';
import type { WaitResult } from '../../../records/conversation/facts/wait-row.ts';
import type { EventContent, PlacedMessage } from '../../../records/conversation/message.ts';
import { counted } from '../../../records/text/text.ts';
import { clean } from '../../../render/clean.ts';
import { spellHiddenLine } from '../../../render/hidden-characters.ts';
import { type Paint, type Sign, sign, type UiStyle } from '../../../render/style.ts';
import { line, type Part } from '../../text/line.ts';
import { type Batches, wrap, wrapInPieces } from '../../text/wrap.ts';
import { waitRows } from './wait-rows.ts';

type EventMessage = Extract<PlacedMessage, { readonly kind: 'event' }>;
/** Maximum characters shown of a call that asks; the question itself shows all of it. */
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
  forked: ['»', 'green'],
  waited: ['●', 'green'],
};

/** An event of an agent: `✗ kill event: by you, 0 descendants`. */
export function* eventView(message: EventMessage, width: number, style: UiStyle): Batches {
  const { event, data } = message.content;
  // The open call, and the question itself, say it already.
  if (event === 'asked' && data?.call_id !== undefined) return;
  const [glyph, paint] = MARKS[event];
  const mark = style.accessible ? '' : `${sign(style, glyph)} `;
  if (event === 'waited' && data !== undefined) {
    const waited = data as unknown as WaitResult;
    const rows = waitRows(waited, width, style);
    return yield [
      line(style, width, [[waited.cut === null ? paint : 'yellow', mark], 'wait ended']),
      ...rows,
    ];
  }
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
  if (isAboutContent(kind as FailureKind))
    return ['/retry without-last goes on without the refused message; /retry asks again'];
  return [RECOVERY[kind as keyof typeof RECOVERY] ?? '/retry asks again'];
}

const RECOVERY = {
  auth: 'the provider refuses the key: /setup tries another one; come back with /resume, then: /retry',
  no_credit: 'add credit at the provider, then: /retry',
  no_model:
    'the provider does not have this model, or not for this key: /model chooses another one, then: /retry',
  no_tools: 'the model or its server takes no tools: /model chooses another one, then: /retry',
  rate_limit: 'the provider asks to slow down: wait a while, then: /retry; or /model chooses another one',
  overloaded:
    'the provider has failed or is overloaded: wait a while, then: /retry; or /model chooses another one',
  network: 'no connection to the provider: check the network and the address of the provider, then: /retry',
};

function shownText(message: EventMessage): string {
  const { event, text } = message.content;
  if (event === 'killed') return killText(message);
  return event === 'asked' ? spellHiddenLine(text, ASKED_MAX) : text;
}

/** When the agent itself was the target, its name is left out. */
function killText({ agent_id, content }: EventMessage): string {
  const { by, target, descendants } = content.data ?? {};
  if (target !== agent_id || typeof by !== 'string' || typeof descendants !== 'number') return content.text;
  return `kill event: by ${clean(by)}, ${counted(descendants, 'descendant')}`;
}
