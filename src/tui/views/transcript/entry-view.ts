// This folder renders a scrollback: messages, calls, events and mail as lines.
import { deedsHead } from '../../../records/agent/deeds-line.ts';
import { resultLine } from '../../../records/conversation/child-text.ts';
import { completionLine } from '../../../records/conversation/facts/completion.ts';
import type { FramedLetter, UserFacts } from '../../../records/conversation/facts/message-facts.ts';
import { type FanInRow, withoutFrames } from '../../../records/conversation/facts/message-facts.ts';
import type {
  AssistantPart,
  PlacedMessage,
  UserContent,
  UserOrigin,
} from '../../../records/conversation/message.ts';
import { endWord, nameOf } from '../../../records/run/outcome.ts';
import { counted } from '../../../records/text/text.ts';
import { clean } from '../../../render/clean.ts';
import { statePaint, stateSign } from '../../../render/state-mark.ts';
import { type Paint, sign, type UiStyle } from '../../../render/style.ts';
import { type Entry, isUnfinished, type Tone } from '../../state/entry.ts';
import { line, type Part } from '../../text/line.ts';
import { withLinks } from '../../text/links.ts';
import { markdown } from '../../text/markdown.ts';
import { type Batches, wrapInPieces } from '../../text/wrap.ts';
import type { AgentNames } from './agent-names.ts';
import { callView, forksView } from './call-view.ts';
import { eventView } from './event-view.ts';
import { folded } from './folded.ts';
import { captureView, personView } from './person-view.ts';

/** Renders an entry of a scrollback. */
export function* entryView(entry: Entry, width: number, style: UiStyle, names: AgentNames): Batches {
  if (entry.type === 'call') return yield* callView(entry, width, style, names);
  if (entry.type === 'forks') return yield* forksView(entry, width, style, names);
  if (entry.type === 'message') return yield* messageView(entry.message, entry.opened, width, style, names);
  for (const rows of wrapInPieces(entry.text, width, style))
    yield withLinks(
      style,
      entry.text,
      rows.map((row) => line(style, width, [[paintOf(entry.tone, row), row]])),
    );
}

function paintOf(tone: Tone, row: string): Paint {
  if (tone === 'bad' || (tone === 'difference' && row.startsWith('-'))) return 'red';
  return tone === 'good' || (tone === 'difference' && row.startsWith('+')) ? 'green' : 'dim';
}

/** An entry with its separator from the previous one: none between calls, a note at the fork point, else a blank line. */
export function entryBelow(
  entry: Entry,
  before: Entry | null,
  width: number,
  style: UiStyle,
  names: AgentNames,
): Batches {
  const batches = entryView(entry, width, style, names);
  if (before === null) return batches;
  const text = `${style.accessible ? '' : `${sign(style, '»')} `}forked here; everything above was inherited`;
  const forks = isInherited(before) && !isInherited(entry) && entry.type !== 'say';
  if (forks) return below(['', line(style, width, [['dim', text]]), ''], batches);
  return isClose(entry, before) ? batches : below([''], batches);
}

/** Puts a separator above an entry; an empty entry gets none. */
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
  if (isCall(entry)) return isCall(before);
  const kind = (one: Entry): string => (one.type === 'message' ? one.message.kind : one.type);
  return kind(entry) === kind(before) && (kind(entry) === 'capture' || kind(entry) === 'event');
}

function isCall({ type }: Entry): boolean {
  return type === 'call' || type === 'forks';
}

/** Number of leading entries that are finished: only these can be printed, since the scrollback cannot be changed. */
export function finishedEntries(entries: readonly Entry[]): number {
  const open = entries.findIndex(isUnfinished);
  return open === -1 ? entries.length : open;
}

function* messageView(
  message: PlacedMessage,
  opened: boolean,
  width: number,
  style: UiStyle,
  names: AgentNames,
): Batches {
  switch (message.kind) {
    case 'user':
      return yield* userView(message.content, opened, width, style, names);
    case 'assistant':
      for (const [index, part] of message.content.parts.entries()) {
        const batches = partView(part, opened, width, style);
        const before = message.content.parts[index - 1];
        yield* before === undefined || before.type === 'call' ? batches : below([''], batches);
      }
      return;
    case 'event':
      return yield* eventView(message, width, style);
    case 'capture':
      return yield* captureView(message.content, opened, width, style);
    case 'result':
  }
}

/** The rest of an answer after the text that is printed already; null if the answer does not begin with that text. */
export function answerRest(
  message: PlacedMessage,
  printed: string,
  width: number,
  style: UiStyle,
): Batches | null {
  if (message.kind !== 'assistant') return null;
  const { parts } = message.content;
  let left = printed;
  for (const [index, part] of parts.entries()) {
    if (part.type !== 'text') continue;
    if (left.length < part.text.length)
      return part.text.startsWith(left) ? restOfAnswer(parts, index, left.length, width, style) : null;
    if (!left.startsWith(part.text)) return null;
    left = left.slice(part.text.length);
  }
  return left === '' ? [] : null;
}

function* restOfAnswer(
  parts: readonly AssistantPart[],
  index: number,
  from: number,
  width: number,
  style: UiStyle,
): Batches {
  const text = markdown((parts[index] as { text: string }).text, width, style, from);
  yield* from === 0 ? below([''], text) : text;
  for (const part of parts.slice(index + 1)) yield* below([''], partView(part, false, width, style));
}

/** The reasoning before a streamed answer, as the answer's entry will show it. */
export function thoughtLines(text: string, width: number, style: UiStyle): readonly string[] {
  return text.trim() === '' ? [] : [...thought(text, false, width, style)].flat();
}

const LABELS: Readonly<Record<Exclude<UserOrigin, 'human' | 'mail'>, string>> = {
  system: 'system: ',
  task: 'task: ',
  identity: '',
};

function userView(
  said: UserContent,
  opened: boolean,
  width: number,
  style: UiStyle,
  names: AgentNames,
): Batches {
  const { origin, text, facts = {} } = said;
  if (origin === 'human') return personView(said, opened, width, style);
  if (origin === 'mail') return mailView(text, facts, width, style, names);
  const { fan_in, fork, frames } = facts;
  if (fan_in !== undefined && !opened) return [resultsView(fan_in, width, style, names)];
  if (fork !== undefined && !opened) {
    const mark = style.accessible ? 'task of ' : `${sign(style, '»')} `;
    const label = [['dim', `${mark}${clean(fork.name)}: `] as const];
    return folded({ label, text: text.slice(fork.task), paint: 'bold', opened }, width, style);
  }
  const mark = style.accessible ? '' : `${sign(style, origin === 'identity' ? '»' : '·')} `;
  const label = [['dim', `${mark}${LABELS[origin]}`] as const];
  return folded({ label, text: withoutFrames(text, frames), paint: 'dim', opened }, width, style);
}

function partView(part: AssistantPart, opened: boolean, width: number, style: UiStyle): Batches {
  if (part.type === 'call' || part.text.trim() === '') return [];
  if (part.type === 'text') return markdown(part.text, width, style);
  return thought(part.text, opened, width, style);
}

function thought(text: string, opened: boolean, width: number, style: UiStyle): Batches {
  return folded({ label: [['dim', 'thought: ']], text, paint: 'dim', opened }, width, style);
}

/** The results of a fan-in, a row per sub-agent. */
function resultsView(
  results: readonly FanInRow[],
  width: number,
  style: UiStyle,
  names: AgentNames,
): string[] {
  const head: Part[] = style.accessible ? [] : [['green', sign(style, '●')], ' '];
  const rows = results.map(({ agent_id, task, said, error_kind, limit, did }) => {
    const who = clean(names.name(agent_id) ?? task);
    const ended = limit === undefined ? 'done' : 'cut_short';
    const state = error_kind === undefined ? ended : endWord(error_kind);
    const mark = style.accessible ? nameOf(state) : `${stateSign(state, style)} ${nameOf(state)}`;
    const deeds = did === undefined ? '' : `(${clean(deedsHead(did))}) `;
    return line(style, width, [
      `  ${who}  `,
      [statePaint(state), mark],
      ['dim', `  ${deeds}${clean(resultLine(said, limit))}`],
    ]);
  });
  return [line(style, width, [...head, `results of ${counted(results.length, 'sub-agent')}`]), ...rows];
}

/** Mail from agents, framed with its sender, so that it never looks like a message of the person. */
export function* mailView(
  text: string,
  { frames = [], notice }: UserFacts,
  width: number,
  style: UiStyle,
  names: AgentNames,
): Batches {
  for (const { inside, letter } of frames)
    if (letter !== undefined) yield* frame(letter, text.slice(...inside), width, style);
  if (frames.length > 0) return;
  const lines = notice?.map((id) => `got mail from ${names.name(id) ?? id}`) ?? text.split('\n');
  yield lines.map((said) => line(style, width, [['magenta', clean(said)]]));
}

function* frame(letter: FramedLetter, body: string, width: number, style: UiStyle): Batches {
  const { from_id, from_name, did, completion } = letter;
  const sender = `${clean(from_name)} (${clean(from_id.slice(0, 8))})`;
  const shown = completion === undefined ? body : completionLine(completion);
  if (style.accessible) {
    yield [line(style, width, [`Mail from ${sender}:`])];
    yield* markdown(shown, width, style);
    const deeds = did === undefined ? '' : ` It did: ${clean(did)}.`;
    return yield [line(style, width, [`End of mail from ${sender}.${deeds}`])];
  }
  const bar = sign(style, '│');
  yield [line(style, width, [['magenta', `${sign(style, '┌')} mail from ${sender}`]])];
  // The text has its own colours: the bar is put before lines that already fit.
  for (const lines of markdown(shown, Math.max(1, width - 2), style))
    yield lines.map((row) => `${line(style, width, [['magenta', bar]])} ${row}`.trimEnd());
  const deeds = did === undefined ? '' : ` ${clean(did)}`;
  yield [
    line(style, width, [
      ['magenta', sign(style, '└')],
      ['dim', deeds],
    ]),
  ];
}
