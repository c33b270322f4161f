import type { Ask } from '../../records/conversation/ask.ts';
import { duration } from '../../render/amounts.ts';
import { type AskPart, askParts } from '../../render/ask-parts.ts';
import { clean } from '../../render/clean.ts';
import { cutLines, cutMiddle, SPELLED_NOTE } from '../../render/plain-sight.ts';
import { paint, type Style, sign } from '../../render/style.ts';

/** What is longer is cut in the middle, and said to be: nobody shall allow what they took for the whole. */
const LINES_MAX = 40;
const LINE_MAX = 2_000;
const WHOLE = 'whole: coppice approvals list --json';

export interface AskLook {
  /** As short as it stays distinct. */
  readonly id: string;
  /** Names from the root down to the one that asks. */
  readonly lineage: readonly string[];
  readonly now: number;
  readonly style: Style;
}

/** One question with everything that the call would be given: that is what a person allows. */
export function askLines(ask: Ask, { id, lineage, now, style }: AskLook): string[] {
  const who = lineage.map(clean).join(` ${style.unicode ? '›' : '>'} `);
  const since = duration(now - ask.asked_at);
  return [
    `${paint(style, 'bold', id)}  ${who} wants ${paint(style, 'bold', ask.tool)} ${sign(style, '·')} waits ${since}`,
    ...askParts(ask).flatMap(argument),
    paint(style, 'dim', `    in ${clean(ask.cwd)} ${sign(style, '·')} rule: ${clean(ask.rule)}`),
  ];
}

function argument({ name, text, language, spelled }: AskPart): string[] {
  const note = spelled ? [`    (${SPELLED_NOTE}; ${WHOLE})`] : [];
  // A difference ends with a line break, and no line follows it.
  const shown = language === 'diff' ? text.replace(/\n$/, '') : text;
  const lines = shown.split('\n').map((line) => cutMiddle(line, LINE_MAX));
  const label = name === '' ? 'change' : name;
  if (lines.length === 1) return [`    ${label}: ${lines[0]}`, ...note];
  const kept = cutLines(lines, LINES_MAX, (left_out) => `(${left_out} more lines; ${WHOLE})`);
  return [`    ${label}:`, ...kept.map((line) => `      ${line}`.trimEnd()), ...note];
}
