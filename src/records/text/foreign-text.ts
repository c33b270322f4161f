import { visibleLine } from '../agent/agent-name.ts';

/**
 * Text of others that is shown to a model or a person beside what Coppice says (docs/permissions.md#text-from-elsewhere):
 * - It stands in a frame whose delimiter its author cannot know, in JSON, or in the result of a call.
 * - Where it could be taken for a stamp, a line by which Coppice says who is speaking, it is quoted.
 */

/** Beginnings of lines that Coppice alone writes. */
const STAMPS = [
  '\\[\\s*(?:Did|Subagent|Cron|Delegate|From|Coppice)\\b',
  '-{3}\\s+[0-9a-f]{8}\\s',
  '-{3}\\s+(?:the user|your task|who you are) \\(message',
  '#+\\s+(?:What happened|What you were told|As of now)\\b',
  '<\\/?instructions\\b',
  'got mail from \\S+$',
].join('|');
const STAMP_LINES = new RegExp(`^(?=[^\\S\\n]*(?:${STAMPS}))`, 'gim');

/** The text with `> ` before each line that could be taken for a stamp. */
export function quoteStamps(text: string): string {
  return text.replaceAll(STAMP_LINES, '> ');
}

/** The text with what the child really did, on a last line that the text itself cannot imitate. */
export function withDeeds(text: string, did: string | undefined): string {
  return did === undefined ? text : `${quoteStamps(text)}${deedsEnd(did)}`;
}

export function deedsEnd(did: string | undefined): string {
  return did === undefined ? '' : `\n\n[Did: ${did}]`;
}

/** What models and people read of a result. */
export function outputText({
  output,
  did,
}: {
  readonly output: string;
  readonly did?: string | undefined;
}): string {
  return withDeeds(output, did);
}

/** How a delimiter is made of a random id. */
export function delimiterOf(id: string): string {
  return id.slice(0, 8);
}

/** The text in a frame; `what` it is and whose, on one line. */
export function framed(delimiter: string, what: string, text: string): string {
  return `--- ${delimiter} ${visibleLine(what)}\n${text}\n--- ${delimiter} end`;
}

/** The text without the first frame in it, for people, who are shown who is speaking in another way. */
export function unframed(text: string): string {
  return text.replace(/^--- ([0-9a-f]{8}) .*\n([\s\S]*)\n--- \1 end$/m, (_, __, inside: string) => inside);
}
