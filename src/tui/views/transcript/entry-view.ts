import type { AssistantPart, PlacedMessage, UserOrigin } from '../../../records/conversation/message.ts';
import { clean } from '../../../render/clean.ts';
import { type Paint, sign } from '../../../render/style.ts';
import type { Look } from '../../look.ts';
import type { Entry } from '../../state/entry.ts';
import { line } from '../../text/line.ts';
import { markdown } from '../../text/markdown.ts';
import { wrapInPieces } from '../../text/wrap.ts';
import { callView } from './call-view.ts';
import { eventView } from './event-view.ts';
import { folded } from './folded.ts';
import { mailView } from './mail-view.ts';
import type { NameContext } from './name-context.ts';
import { resultsView } from './results-view.ts';

/** Lines that are drawn one batch after the other: none takes long, however much there is. */
export type Batches = Iterable<readonly string[]>;

/** One entry of a scrollback. */
export function* entryView(entry: Entry, width: number, look: Look, names: NameContext): Batches {
  if (entry.type === 'call') return yield* callView(entry, width, look, names);
  if (entry.type === 'message') return yield* messageView(entry.message, entry.opened, width, look, names);
  const paint: Paint = entry.tone === 'bad' ? 'red' : entry.tone === 'good' ? 'green' : 'dim';
  for (const rows of wrapInPieces(entry.text, width, look))
    yield rows.map((row) => line(look, width, [[paint, row]]));
}

/** An entry with what separates it from the one before: nothing between calls, a blank line elsewhere, a rule at the fork point. */
export function entryBelow(
  entry: Entry,
  before: Entry | null,
  width: number,
  look: Look,
  names: NameContext,
): Batches {
  const batches = entryView(entry, width, look, names);
  if (before === null) return batches;
  const text = `${look.accessible ? '' : `${sign(look, '⑂')} `}forked here; what stands above was inherited`;
  const forks = isInherited(before) && !isInherited(entry) && entry.type !== 'say';
  if (forks) return below(['', line(look, width, [['dim', text]]), ''], batches);
  return isClose(entry, before) ? batches : below([''], batches);
}

/** Nothing stands above nothing. */
function* below(above: readonly string[], batches: Batches): Batches {
  let is_first = true;
  for (const lines of batches) {
    yield is_first && lines.length > 0 ? [...above, ...lines] : lines;
    is_first &&= lines.length === 0;
  }
}

function isInherited(entry: Entry): boolean {
  return entry.type !== 'say' && entry.inherited;
}

function isClose(entry: Entry, before: Entry): boolean {
  if (entry.type === 'call') return before.type === 'call';
  const kind = (one: Entry): string => (one.type === 'message' ? one.message.kind : one.type);
  return kind(entry) === kind(before) && (kind(entry) === 'capture' || kind(entry) === 'event');
}

/** How many entries at the head are finished: only these may go into a scrollback that cannot be changed. */
export function finishedEntries(entries: readonly Entry[]): number {
  let end = entries.length;
  entries.some((entry, index) => {
    if (entry.type !== 'call' || entry.result !== null) return false;
    end = index;
    return true;
  });
  return end;
}

function* messageView(
  message: PlacedMessage,
  opened: boolean,
  width: number,
  look: Look,
  names: NameContext,
): Batches {
  switch (message.kind) {
    case 'user':
      return yield* userView(message.content.origin, message.content.text, opened, width, look, names);
    case 'assistant':
      for (const [index, part] of message.content.parts.entries()) {
        const batches = partView(part, opened, width, look);
        const before = message.content.parts[index - 1];
        yield* before === undefined || before.type === 'call' ? batches : below([''], batches);
      }
      return;
    case 'event':
      return yield* eventView(message, width, look);
    case 'capture':
      return yield* captureView(message.content.text, width, look);
    case 'result':
  }
}

const LABELS: Readonly<Record<Exclude<UserOrigin, 'human' | 'mail'>, string>> = {
  system: 'system: ',
  task: 'task: ',
  identity: '',
};

function userView(
  origin: UserOrigin,
  text: string,
  opened: boolean,
  width: number,
  look: Look,
  names: NameContext,
): Batches {
  if (origin === 'human') return personView(text, width, look);
  if (origin === 'mail') return mailView(text, width, look, names);
  const results = origin === 'system' && !opened ? resultsView(text, width, look, names) : null;
  if (results !== null) return [results];
  const fork = origin === 'identity' && !opened ? forkTask(text) : null;
  if (fork !== null) {
    const mark = look.accessible ? 'task of ' : `${sign(look, '⑂')} `;
    const label = [['dim', `${mark}${clean(fork.name)}: `] as const];
    return folded({ label, text: fork.task, paint: 'bold', opened }, width, look);
  }
  const mark = look.accessible ? '' : `${sign(look, origin === 'identity' ? '⑂' : '·')} `;
  const label = [['dim', `${mark}${LABELS[origin]}`] as const];
  return folded({ label, text, paint: 'dim', opened }, width, look);
}

/** Of what a fork is told of itself, what a person wants to know; null when it waits for its task, or says it in other words. */
function forkTask(text: string): { readonly name: string; readonly task: string } | null {
  const name = /^You are [^"\n]*"(.*?)" \(/.exec(text)?.[1];
  const [, task] = /\nYour task:\n([\s\S]+)$/.exec(text) ?? [];
  return name === undefined || task === undefined ? null : { name, task };
}

function* personView(text: string, width: number, look: Look): Batches {
  let mark = look.accessible ? 'You: ' : '> ';
  for (const rows of wrapInPieces(text, width - mark.length, look))
    yield rows.map((row) => {
      const before = mark;
      mark = ' '.repeat(look.accessible ? 0 : mark.length);
      return line(look, width, [
        ['cyan', before],
        ['bold', row],
      ]);
    });
}

function partView(part: AssistantPart, opened: boolean, width: number, look: Look): Batches {
  if (part.type === 'call' || part.text.trim() === '') return [];
  if (part.type === 'text') return markdown(part.text, width, look);
  return folded({ label: [['dim', 'thought: ']], text: part.text, paint: 'dim', opened }, width, look);
}

/** What was typed while a capture was on: shown, and never sent to the model. */
export function* captureView(text: string, width: number, look: Look): Batches {
  const mark = look.accessible ? 'captured: ' : `${sign(look, '┆')} `;
  for (const rows of wrapInPieces(text, width - mark.length, look))
    yield rows.map((row) => line(look, width, [['magenta', mark], row]));
}
