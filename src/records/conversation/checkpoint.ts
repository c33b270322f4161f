import { cutText } from '../text/cut-text.ts';
import { quoteStamps } from '../text/untrusted-text.ts';
import type { FileMark, ResultContent, UserOrigin } from './message.ts';

/** Records that shorten the history sent to a model (docs/context.md). The ledger keeps every row. */

/** Shortens results with more than `over` characters, up to and including the row `through`. */
export interface Elision {
  readonly through: number;
  readonly over: number;
}

/** A person's message to the agent without what they attached, its task, or the message that tells it who it is. */
export interface Spoken {
  readonly seq: number;
  readonly origin: Exclude<UserOrigin, 'system' | 'mail'>;
  readonly text: string;
  /** Characters of it that are left out behind `text`. Absent in old rows, whose `text` ends with the note on them. */
  readonly left_out?: number;
}

/** Replaces all rows up to and including `through`; sufficient to continue without them. */
export interface Checkpoint {
  readonly through: number;
  /** Number of this checkpoint within the conversation, counted from 1. */
  readonly number: number;
  /** Written by the model; null: the summary failed. */
  readonly summary: string | null;
  /** Verbatim, oldest first; texts that are too long are shortened. */
  readonly spoken: readonly Spoken[];
  /** Facts from the runtime: the agent's children, its mail, its limits. */
  readonly facts: readonly string[];
  /** Files that the agent has seen, for processes that load the history from the checkpoint on; not sent to models. Absent in old rows. */
  readonly files?: readonly FileMark[];
}

const HEAD_CHARACTERS = 200;

/** Applies an elision to a result; `seq` is the position of the result. */
export function elided(
  result: ResultContent,
  seq: number | undefined,
  { through, over }: Elision,
): ResultContent {
  if (seq === undefined || seq > through || result.output.length <= over) return result;
  const { images: _, ...rest } = result;
  const { text, left_out } = headOf(result.output, HEAD_CHARACTERS);
  return { ...rest, output: `${text}${leftOutNote(left_out, seq)}` };
}

/** The first `characters` of a text, and how many more there are. */
function headOf(text: string, characters: number): { readonly text: string; readonly left_out: number } {
  const head = cutText(text, characters);
  return { text: head.toWellFormed(), left_out: text.length - head.length };
}

function leftOutNote(left_out: number, seq: number): string {
  return `\n[… ${left_out} characters left out to save room: recall {"seq": ${seq}} gives all of it …]`;
}

/**
 * Selects texts for about `characters` characters, headings included: the first, then the newest. A long first text takes at most half unless the others
 * leave room. Texts that do not fit are shortened; once the space is used up, older ones are left out.
 */
export function spokenWithin(all: readonly Spoken[], characters: number): readonly Spoken[] {
  const [first, ...later] = all;
  if (first === undefined) return [];
  let left = characters - Math.min(spokenText(first).length, Math.floor(characters / 2));
  const kept: Spoken[] = [];
  for (const one of later.toReversed()) {
    if (left <= 0) break;
    const told = within(one, left, HEAD_CHARACTERS);
    kept.push(told);
    left -= spokenText(told).length;
  }
  const room = characters - kept.reduce((sum, one) => sum + spokenText(one).length, 0);
  return [within(first, room, Math.max(HEAD_CHARACTERS, room)), ...kept.reverse()];
}

/** Unchanged if it fits into `room`, otherwise its first `head` characters. */
function within(one: Spoken, room: number, head: number): Spoken {
  if (one.text.length <= Math.max(room, head)) return one;
  const { text, left_out } = headOf(one.text, head);
  return { ...one, text, left_out: left_out + (one.left_out ?? 0) };
}

const NO_SUMMARY =
  'A summary of the earlier part could not be made. What was done is in the ledger: check it before you repeat anything.';

function spokenText({ seq, origin, text, left_out = 0 }: Spoken): string {
  const note = left_out === 0 ? '' : leftOutNote(left_out, seq);
  return `--- ${TITLES[origin]} (message ${seq})\n${quoteStamps(text)}${note}`;
}

/** The text that the model is sent in place of the rows. */
export function checkpointText({ through, summary, spoken, facts }: Checkpoint): string {
  return [
    `[Coppice] This conversation was long. Its messages 1 to ${through} are no longer sent to you; this replaces them. recall {"seq": NUMBER} gives any of them word for word.`,
    '## What happened',
    summary === null ? NO_SUMMARY : quoteStamps(summary),
    '## What you were told, word for word',
    ...spoken.map(spokenText),
    '## As of now',
    ...(facts.length === 0 ? ['No other work is in progress.'] : [facts.join('\n')]),
    'The newest messages follow as they were. Continue from there.',
  ].join('\n\n');
}

const TITLES: Readonly<Record<Spoken['origin'], string>> = {
  human: 'the user',
  task: 'your task',
  identity: 'who you are',
};
