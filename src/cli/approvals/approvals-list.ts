import type { ListedApproval } from '../../documents/approval-json.ts';
import { duration } from '../../render/amounts.ts';
import { type AskPart, askParts } from '../../render/ask-parts.ts';
import { clean } from '../../render/clean.ts';
import { cutLines, cutMiddle, SPELLED_NOTE } from '../../render/hidden-characters.ts';
import { shortIds } from '../../render/short-ids.ts';
import { paint, type Style, sign } from '../../render/style.ts';
import { shellWord } from '../../settings/suggested-command.ts';
import { ask } from '../setup/ask-server.ts';
import type { Context } from '../setup/context.ts';
import { printJson, printLines } from '../setup/output.ts';

/** Limits beyond which a text is cut in the middle, with a note, so that nobody takes a part for the whole call. */
const LINES_MAX = 40;
const LINE_MAX = 2_000;
const WHOLE = 'whole: coppice approvals list --json';

const HOW = `allow: coppice approvals allow ID            (from now on: --turn, --agent, --session or --always, with --rule RULE)
deny:  coppice approvals deny ID --say TEXT  (the model reads the text)`;
const HOW_ANSWERED = `answer a question: coppice approvals allow ID --value NAME=VALUE …  (decline it: deny ID; dismiss it: deny ID --dismiss)`;

/** `coppice approvals list`: calls of all trees that wait for approval, oldest first. */
export async function approvalsList(context: Context): Promise<number> {
  const document = await ask(context, (asked) => asked.approvals());
  if (context.json) {
    printJson(document);
    return 0;
  }
  const { approvals } = document;
  if (approvals.length === 0) {
    printLines(['nothing waits for approval']);
    return 0;
  }
  const short = shortIds(approvals.map(({ id }) => id));
  const now = Date.now();
  for (const one of approvals)
    printLines([...askLines(one, { id: short.get(one.id) ?? one.id, now, style: context.out }), '']);
  printLines([HOW]);
  if (approvals.some(({ subject_kind }) => subject_kind === 'question')) printLines([HOW_ANSWERED]);
  return 0;
}

export interface AskLook {
  /** Id, shortened as far as it stays unique. */
  readonly id: string;
  readonly now: number;
  readonly style: Style;
}

/** One call with all of its arguments: these are what a person allows. */
export function askLines(ask: ListedApproval, { id, now, style }: AskLook): string[] {
  const who = ask.lineage.map(clean).join(` ${style.unicode ? '›' : '>'} `);
  const since = duration(now - Date.parse(ask.asked_at));
  return [
    `${paint(style, 'bold', id)}  ${who} wants ${paint(style, 'bold', ask.tool)} ${sign(style, '·')} waits ${since}`,
    ...askParts(ask).flatMap(argument),
    paint(style, 'dim', `    in ${clean(ask.cwd)} ${sign(style, '·')} rule: ${clean(ask.rule)}`),
    ...(ask.offered_rule === null
      ? []
      : [paint(style, 'dim', `    from now on: --rule ${shellWord(clean(ask.offered_rule))}`)]),
  ];
}

function argument({ name, text, language, spelled }: AskPart): string[] {
  const note = spelled ? [`    (${SPELLED_NOTE}; ${WHOLE})`] : [];
  // The line break that ends a diff begins no further line.
  const shown = language === 'diff' ? text.replace(/\n$/, '') : text;
  const lines = shown.split('\n').map((line) => cutMiddle(line, LINE_MAX));
  const label = name === '' && language === 'diff' ? 'change' : name;
  if (lines.length === 1) return [`    ${label === '' ? '' : `${label}: `}${lines[0]}`, ...note];
  const kept = cutLines(lines, LINES_MAX, (left_out) => `(${left_out} more lines; ${WHOLE})`);
  return [
    ...(label === '' ? [] : [`    ${label}:`]),
    ...kept.map((line) => `      ${line}`.trimEnd()),
    ...note,
  ];
}
