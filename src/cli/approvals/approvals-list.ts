import type { ListedApproval } from '../../documents/approval-json.ts';
import { duration } from '../../render/amounts.ts';
import { type AskPart, askParts } from '../../render/ask-parts.ts';
import { clean } from '../../render/clean.ts';
import { cutLines, cutMiddle, SPELLED_NOTE } from '../../render/hidden-characters.ts';
import { paint, type Style, sign } from '../../render/style.ts';
import { shellWord } from '../../settings/suggested-command.ts';
import { ask } from '../setup/ask-server.ts';
import type { Context } from '../setup/context.ts';
import { printResult } from '../setup/output.ts';

/** Limits beyond which a text is cut in the middle, with a note, so that nobody takes a part for the whole call. */
const LINES_MAX = 40;
const LINE_MAX = 2_000;

const HOW = `allow: coppice approvals allow ID            (from now on: --turn, --agent, --session or --always, with --rule RULE)
deny:  coppice approvals deny ID --say TEXT  (the model reads the text)`;
const HOW_ANSWERED = `answer a question: coppice approvals allow ID ANSWER; in a form: --value NAME=VALUE …  (decline it: deny ID; dismiss it: deny ID --dismiss)`;

/** `coppice approvals list`: calls of all trees that wait for approval, oldest first. */
export async function approvalsList(context: Context): Promise<number> {
  const document = await ask(context, (asked) => asked.approvals());
  const { approvals, open } = document;
  const more = open - approvals.length;
  const look = { now: Date.now(), style: context.out, hint: context.hint };
  return printResult(context, document, () =>
    approvals.length === 0
      ? ['nothing waits for approval']
      : [
          ...approvals.flatMap((one) => [...askLines(one, look), '']),
          ...howAnswered(context, approvals),
          ...(more > 0 ? [`${more} more wait: they follow when these are answered`] : []),
        ],
  );
}

/** `coppice approvals show ID`: one call, with nothing left out. */
export async function approvalsShow(context: Context, id: string): Promise<number> {
  const document = await ask(context, (asked) => asked.approvals({ id }));
  const look = { now: Date.now(), style: context.out, whole: true };
  return printResult(context, document, () => [
    ...document.approvals.flatMap((one) => askLines(one, look)),
    '',
    ...howAnswered(context, document.approvals),
  ]);
}

function howAnswered({ hint }: Context, approvals: readonly ListedApproval[]): string[] {
  const questions = approvals.filter(({ subject_kind }) => subject_kind === 'question').length;
  return [
    ...(questions < approvals.length ? [hint(HOW)] : []),
    ...(questions > 0 ? [hint(HOW_ANSWERED)] : []),
  ];
}

export interface AskLook {
  readonly now: number;
  readonly style: Style;
  /** Whether nothing is cut. */
  readonly whole?: boolean;
  readonly hint?: Context['hint'];
}

/** One call with all of its arguments: these are what a person allows. */
export function askLines(ask: ListedApproval, look: AskLook): string[] {
  const { now, style, whole = false, hint = (text) => text } = look;
  const show = whole ? null : hint(`coppice approvals show ${ask.short_id}`);
  const who = ask.lineage.map(clean).join(` ${style.unicode ? '›' : '>'} `);
  const since = duration(now - Date.parse(ask.asked_at));
  return [
    `${paint(style, 'bold', ask.short_id)}  ${who} wants ${paint(style, 'bold', ask.tool)} ${sign(style, '·')} waits ${since}`,
    ...askParts(ask).flatMap((part) => argument(part, show)),
    paint(style, 'dim', `    in ${clean(ask.cwd)} ${sign(style, '·')} rule: ${clean(ask.rule)}`),
    ...(ask.offered_rule === null
      ? []
      : [paint(style, 'dim', `    from now on: --rule ${shellWord(clean(ask.offered_rule))}`)]),
  ];
}

/** `cut`: the command that shows the whole where this cuts a long text; null: nothing is cut. */
function argument({ name, text, language, spelled }: AskPart, cut: string | null): string[] {
  // The line break that ends a diff begins no further line.
  const shown = language === 'diff' ? text.replace(/\n$/, '') : text;
  const all = shown.split('\n');
  const lines = cut === null ? all : all.map((line) => cutMiddle(line, LINE_MAX));
  const how = `whole: ${cut}`;
  const notes = [spelled && SPELLED_NOTE, lines.some((line, at) => line !== all[at]) && how];
  const note = notes.flatMap((one) => (one === false ? [] : [`    (${one})`]));
  const label = name === '' && language === 'diff' ? 'change' : name;
  if (lines.length === 1) return [`    ${label === '' ? '' : `${label}: `}${lines[0]}`, ...note];
  const most = cut === null ? lines.length : LINES_MAX;
  const kept = cutLines(lines, most, (left_out) => `(${left_out} more lines; ${how})`);
  return [
    ...(label === '' ? [] : [`    ${label}:`]),
    ...kept.map((line) => `      ${line}`.trimEnd()),
    ...note,
  ];
}
