import { endOfText } from '../../records/text/cut-text.ts';
import { clean } from '../../render/clean.ts';
import { columnsOf, sign, type UiStyle } from '../../render/style.ts';
import type { Shortcuts } from '../keys/shortcuts.ts';
import { line } from '../text/line.ts';
import { markdown } from '../text/markdown.ts';
import { approvalBox } from '../views/approvals/approval-box.ts';
import type { OverviewState, Peek } from './overview-state.ts';

export interface PeekKeys {
  readonly shortcuts: Shortcuts;
  /** Whether trees can be opened here. */
  readonly opens: boolean;
}

/** Maximum characters read from the end of what was said. */
const TAIL = 4_000;

/** Draws what a tree asks, or the last lines of what was said there; nothing without a peek. */
export function peekView(
  { peek, trees }: OverviewState,
  width: number,
  height: number,
  style: UiStyle,
  { shortcuts }: PeekKeys,
): readonly string[] {
  const tree = peek === null ? undefined : trees.find(({ root_id }) => root_id === peek.root_id);
  if (peek === null || tree === undefined || height < 2) return [];
  const title = ` ${clean(tree.title)}  ${clean(tree.cwd)}  ${tree.root_id.slice(0, 8)} `;
  const dash = style.accessible ? '' : sign(style, '─');
  const rest = dash.repeat(Math.max(0, width - 2 - columnsOf(title)));
  const head = line(style, width, [['dim', `${dash.repeat(2)}${title}${rest}`]]);
  // An answer has no effect until a process leads the tree.
  const why = tree.unled === null ? null : ` ${clean(tree.unled.why)}: ${clean(tree.unled.next)}`;
  const unled = why === null || height < 4 ? [] : [line(style, width, [['yellow', why]])];
  const rows = height - 1 - unled.length;
  return [head, ...unled, ...(asked(peek, width, rows, style, shortcuts) ?? said(peek, width, rows, style))];
}

function asked(
  { window, lineages }: Peek,
  width: number,
  height: number,
  style: UiStyle,
  shortcuts: Shortcuts,
): readonly string[] | null {
  if (window.question === null) return null;
  const lineage = lineages.get(window.asks[0]?.id ?? '');
  const keys = { shortcuts, drafting: false, ...(lineage === undefined ? {} : { lineage }) };
  return approvalBox(window, window.question, width, height, style, keys);
}

function said({ said: text }: Peek, width: number, height: number, style: UiStyle): readonly string[] {
  if (text === null) return [];
  if (text.trim() === '') return [line(style, width, [['dim', ' nothing was said yet']])];
  const lines = [...markdown(endOfText(text, TAIL), width - 1, style)].flat();
  return lines.slice(-height).map((row) => (row === '' ? '' : ` ${row}`));
}
