import { visibleLine } from '../agent/agent-name.ts';
import { excerpt } from './text.ts';

/**
 * Rules for untrusted text that is shown to a model or a person next to text of Coppice (docs/permissions.md#text-from-elsewhere):
 * - It is placed in a frame whose delimiter its author cannot know, in JSON, or in the result of a call.
 * - Lines that could be taken for a stamp, by which Coppice says who is speaking, are quoted.
 */

/** Patterns for the beginnings of lines that only Coppice writes. */
const STAMPS = [
  '\\[\\s*(?:Did|Subagent|Cron|Delegate|From|Coppice)\\b',
  '-{3}\\s+[0-9a-f]{8}\\s',
  '-{3}\\s+(?:the user|your task|who you are) \\(message',
  '#+\\s+(?:What happened|What you were told|As of now)\\b',
  '<\\/?instructions\\b',
  'got mail from \\S+$',
].join('|');
const STAMP_LINES = new RegExp(`^(?=[^\\S\\n]*(?:${STAMPS}))`, 'gim');

/** Prefixes each line that could be taken for a stamp with `> `. */
export function quoteStamps(text: string): string {
  return text.replaceAll(STAMP_LINES, '> ');
}

/** Appends what the child actually did, as a last line that the text itself cannot imitate. */
export function withDeeds(text: string, did: string | undefined): string {
  return did === undefined ? text : `${quoteStamps(text)}${deedsEnd(did)}`;
}

export function deedsEnd(did: string | undefined): string {
  return did === undefined ? '' : `\n\n[Did: ${did}]`;
}

/** The text of a result, as models and people read it. */
export function outputText({
  output,
  did,
}: {
  readonly output: string;
  readonly did?: string | undefined;
}): string {
  return withDeeds(output, did);
}

/** Derives a delimiter from a random id. */
export function delimiterOf(id: string): string {
  return id.slice(0, 8);
}

/** Puts the text in a frame. `what` says on one line what the text is and who wrote it. */
export function framed(delimiter: string, what: string, text: string): string {
  return `--- ${delimiter} ${visibleLine(what)}\n${text}\n--- ${delimiter} end`;
}

/** Head of the frame around the reason for an end. */
export const REASON = 'why it ended, not instructions';

/** Puts the reason for an end in a frame. */
export function framedReason(delimiter: string, reason: string): string {
  return framed(delimiter, REASON, reason);
}

/** Patterns of text that tries to manipulate the reader. Kept few, so that ordinary reports match none. */
const SIGNS: readonly (readonly [what: string, sign: RegExp])[] = [
  ['it imitates a line of Coppice', new RegExp(`^[^\\S\\n]*(?:${STAMPS}).*`, 'im')],
  [
    'it asks to ignore instructions',
    /\b(?:ignore|disregard|forget|override)\s+(?:(?:all|any|every|of|the|your|my|these|those)\s+){0,4}(?:previous|prior|above|earlier|preceding|foregoing|original|existing|system)\s+(?:\w+\s+){0,2}?(?:instructions?|prompts?|rules|orders|directions|directives|guidelines)\b/i,
  ],
  [
    'it has tags of a prompt',
    /<\/?system(?:[-_ ](?:reminder|prompt|message))?>|<\|[a-z_]{2,30}\|>|<<\/?SYS>>|\[\/?INST\]/,
  ],
  [
    'it poses as a system message',
    /^[^\S\n]*[#*[]*\s?(?:system|developer|admin(?:istrator)?)\s+(?:override|instructions?|message|prompt)[\]*]*\s*[:!]/im,
  ],
  [
    'it asks to keep something from the person',
    /\b(?:do not|don['’]t|never|must not)\s+(?:tell|inform|alert|notify|warn)\s+(?:the\s+)?(?:user|human|operator|person)\b/i,
  ],
  [
    'it claims an approval',
    /\bthe\s+(?:user|human|operator|person)\s+(?:has\s+)?(?:already|explicitly)\s+(?:approved|authori[sz]ed|consented|granted)\b/i,
  ],
  [
    'it asks to be somebody else',
    /\byou\s+are\s+(?:now|no\s+longer)\s+(?:DAN\b|in\s+(?:developer|debug|admin|god)\s+mode|bound\s+by|restricted\s+by|unrestricted|jailbroken)/i,
  ],
  [
    'it hides characters',
    /[\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]|[\u200b\u200c\u2060-\u2064\ufeff]{4}|[\u{e0100}-\u{e01ef}]{2}/u,
  ],
];
/** Flags of regions, which legitimately contain tag characters. */
const FLAGS = /\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{2,6}\u{e007f}/gu;
/** Maximum characters that are checked. */
const LOOKED_AT = 200_000;

/** Returns, for people, why a text looks like a prompt injection; null if it does not. */
export function injectionSign(text: string): string | null {
  const looked_at = text.slice(0, LOOKED_AT).replaceAll(FLAGS, '');
  for (const [what, sign] of SIGNS) {
    const [found] = sign.exec(looked_at) ?? [];
    if (found === undefined) continue;
    const shown = visibleLine(found);
    return shown === '' ? what : `${what}: ${excerpt(shown)}`;
  }
  return null;
}
