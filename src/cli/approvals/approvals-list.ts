import { askJson } from '../../documents/approval-json.ts';
import type { Ask } from '../../records/conversation/ask.ts';
import { duration } from '../../render/amounts.ts';
import { type AskPart, askParts } from '../../render/ask-parts.ts';
import { clean } from '../../render/clean.ts';
import { cutLines, cutMiddle, SPELLED_NOTE } from '../../render/plain-sight.ts';
import { shortIds } from '../../render/short-ids.ts';
import { paint, type Style, sign } from '../../render/style.ts';
import type { Store } from '../../store/store.ts';
import { type Context, withStore } from '../setup/context.ts';
import { printJson, printLines } from '../setup/output.ts';

/** Longer texts are cut in the middle with a note, so that nobody takes a part for the whole call. */
const LINES_MAX = 40;
const LINE_MAX = 2_000;
const WHOLE = 'whole: coppice approvals list --json';

const HOW = `allow: coppice approvals allow ID            (--agent: and all later ones of this tool by this agent)
deny:  coppice approvals deny ID --say TEXT  (the model reads the text)`;

/** `coppice approvals list`: calls of all trees that wait for approval, oldest first. */
export function approvalsList(context: Context): Promise<number> {
  return withStore(context, async (store) => {
    const asks = await store.asks({ open: true });
    if (context.json) {
      printJson({ schema: 'coppice/approvals/v1', approvals: asks.map(askJson) });
      return 0;
    }
    if (asks.length === 0) {
      printLines(['nothing waits for approval']);
      return 0;
    }
    const short = shortIds(asks.map((ask) => ask.id));
    const now = Date.now();
    for (const ask of asks) {
      const look = { id: short.get(ask.id) ?? ask.id, lineage: await lineageOf(ask, store), now };
      printLines([...askLines(ask, { ...look, style: context.out }), '']);
    }
    printLines([HOW]);
    return 0;
  });
}

async function lineageOf(ask: Ask, store: Store): Promise<string[]> {
  const names = [ask.agent_name];
  let above = (await store.agent(ask.agent_id))?.parent_id ?? null;
  while (above !== null) {
    const agent = await store.agent(above);
    if (agent === null) break;
    names.unshift(agent.name);
    above = agent.parent_id;
  }
  return names;
}

export interface AskLook {
  /** Shortened as far as it stays unique. */
  readonly id: string;
  /** Names from the root down to the one that asks. */
  readonly lineage: readonly string[];
  readonly now: number;
  readonly style: Style;
}

/** One call with all of its arguments: these are what a person allows. */
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
  // The line break that ends a diff is no line of its own.
  const shown = language === 'diff' ? text.replace(/\n$/, '') : text;
  const lines = shown.split('\n').map((line) => cutMiddle(line, LINE_MAX));
  const label = name === '' ? 'change' : name;
  if (lines.length === 1) return [`    ${label}: ${lines[0]}`, ...note];
  const kept = cutLines(lines, LINES_MAX, (left_out) => `(${left_out} more lines; ${WHOLE})`);
  return [`    ${label}:`, ...kept.map((line) => `      ${line}`.trimEnd()), ...note];
}
