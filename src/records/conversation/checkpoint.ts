import { quoteStamps } from '../text/foreign-text.ts';
import { readAttachments } from './attached-text.ts';
import type { FileMark, ResultContent, UserOrigin } from './message.ts';

/** How the history that a model is sent gets shorter (docs/context.md). The ledger keeps every row. */

/** Results up to the row `through` with more than `over` characters are shortened. */
export interface Elision {
  readonly through: number;
  readonly over: number;
}

/** What a person said to the agent, or what it was told to do and who it is. */
export interface Spoken {
  readonly seq: number;
  readonly origin: Exclude<UserOrigin, 'system' | 'mail'>;
  readonly text: string;
}

/** What stands for all rows up to `through`. Enough to go on without reading them. */
export interface Checkpoint {
  readonly through: number;
  /** How many there are with this one. */
  readonly number: number;
  /** In the model's words; null: it could not be had. */
  readonly summary: string | null;
  /** Word for word, oldest first; those that were too long are shortened. */
  readonly spoken: readonly Spoken[];
  /** What the runtime knows: the agent's children, its mail, its limits. */
  readonly facts: readonly string[];
  /** The newest message that was addressed to the agent, if it is among these rows. */
  readonly addressed?: { readonly text: string; readonly first: boolean };
  /** The files that the agent has seen, so that whoever takes it over knows them; not for models. Absent in old rows. */
  readonly files?: readonly FileMark[];
}

const HEAD_CHARACTERS = 200;

/** `seq`: of the result. */
export function elided(
  result: ResultContent,
  seq: number | undefined,
  { through, over }: Elision,
): ResultContent {
  if (seq === undefined || seq > through || result.output.length <= over) return result;
  const { images: _, ...rest } = result;
  return { ...rest, output: shortened(result.output, seq, HEAD_CHARACTERS) };
}

/** The beginning of a text, which may have been shortened before, and how the rest can be read. */
export function shortened(text: string, seq: number, characters: number): string {
  const before = LEFT_OUT.exec(text);
  const head = text.slice(0, Math.min(characters, before?.index ?? characters));
  const left_out = (before === null ? text.length : before.index + Number(before[1])) - head.length;
  return `${head.toWellFormed()}\n[… ${left_out} characters left out to save room: recall {"seq": ${seq}} gives all of it …]`;
}

const LEFT_OUT = /\n\[… (\d+) characters left out to save room: recall \{"seq": \d+\} gives all of it …\]$/;

/**
 * Of these texts, those that fit into so many characters as they are, headings included: the first, then the newest. A long first one leaves half to the
 * others. What does not fit is shortened; the oldest of what has no room even so are left out.
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

/** As it is if it has room; otherwise its beginning. */
function within(one: Spoken, room: number, head: number): Spoken {
  const text = readAttachments(one.text)?.text ?? one.text;
  const fits = text.length <= Math.max(room, head);
  return { ...one, text: fits ? text : shortened(text, one.seq, head) };
}

const NO_SUMMARY =
  'A summary of the earlier part could not be made. What was done is in the ledger: look before you do something again.';

function spokenText({ seq, origin, text }: Spoken): string {
  return `--- ${TITLES[origin]} (message ${seq})\n${quoteStamps(text)}`;
}

/** What the model reads instead of the rows. */
export function checkpointText({ through, summary, spoken, facts }: Checkpoint): string {
  return [
    `[Coppice] This conversation was long. Its messages 1 to ${through} are no longer sent to you; this stands for them. recall {"seq": NUMBER} gives any of them word for word.`,
    '## What happened',
    summary === null ? NO_SUMMARY : quoteStamps(summary),
    '## What you were told, word for word',
    ...spoken.map(spokenText),
    '## As of now',
    ...(facts.length === 0 ? ['Nothing is under way beside you.'] : [facts.join('\n')]),
    'The newest messages follow as they were. Go on from there.',
  ].join('\n\n');
}

const TITLES: Readonly<Record<Spoken['origin'], string>> = {
  human: 'the user',
  task: 'your task',
  identity: 'who you are',
};
