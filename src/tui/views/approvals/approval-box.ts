import type { Ask } from '../../../records/conversation/ask.ts';
import { duration } from '../../../render/amounts.ts';
import { clean } from '../../../render/clean.ts';
import { sign, type UiStyle } from '../../../render/style.ts';
import { STANDARD_SHORTCUTS } from '../../keys/shortcuts.ts';
import type { Question, UiState } from '../../state/ui-state.ts';
import { columns, type Part, separator } from '../../text/line.ts';
import { box } from '../box.ts';
import { type AskingKeys, answerRows } from './answer-rows.ts';
import { subjectLines, subjectRows } from './asked-call.ts';
import { grantRows } from './grant-rows.ts';

const WIDTH_MAX = 90;
/** Rows other than the call itself and the keys: frame, folder and rule. */
const FIXED = 3;
const ACCESSIBLE_FIXED = 2;
/** Minimum columns for the folder, however long the rule is. */
const CWD_MIN = 12;
/** Rows of keys without a grant. */
const KEYS = 2;
/** Waiting time from which on the box shows it. */
const TOLD_AFTER_MS = 60_000;

/** The approval at the head of the queue: who asks, from where in the tree, and for what exactly. There is no default answer. */
export function approvalBox(
  state: UiState,
  question: Question,
  width: number,
  height: number,
  style: UiStyle,
  keys: AskingKeys = { shortcuts: STANDARD_SHORTCUTS, drafting: false },
): string[] {
  const [ask] = state.asks;
  if (ask === undefined) return [];
  const wide = Math.min(width, WIDTH_MAX);
  const title = titleOf(state, ask, keys.lineage?.map(clean) ?? path(state, ask), wide - 6, style);
  const keysIn = (room: number) =>
    question.grant === null
      ? answerRows(ask, question, keys, room)
      : grantRows(state, ask, question.grant, question.held, keys, room, style);
  const fixed = keysIn(wide - 4).length + (style.accessible ? ACCESSIBLE_FIXED : FIXED);
  const rows: (readonly Part[])[] = [
    ...subjectRows(ask, question.page, wide - 4, Math.max(1, height - fixed), style, keys.whole),
    placeRow(state, ask, wide - 4, style),
    ...keysIn(wide - 4),
  ];
  const lines = box(title, rows, wide, style);
  if (lines.length <= height || style.accessible) return lines.slice(0, height);
  // No room for the frame: the call and the keys take precedence.
  const kept = [[['bold', title] as const], rows[0] ?? [], ...keysIn(wide)];
  return box(title, kept.slice(1), wide, { ...style, accessible: true }).slice(0, height);
}

/** The folder, cut at its beginning since its end says most, the rule, and how long the question has waited. */
function placeRow(state: UiState, ask: Ask, width: number, style: UiStyle): readonly Part[] {
  const rule = `${separator(style)}rule: ${clean(ask.rule)}`;
  const waiting = waitingText(state.now - ask.asked_at, style);
  const cwd = clean(ask.cwd);
  const room = Math.max(CWD_MIN, width - columns(['cwd ', rule, waiting]));
  const parts = cwd.split('/');
  const ends = parts.map((_, from) =>
    from === 0 ? cwd : `${sign(style, '…')}/${parts.slice(from).join('/')}`,
  );
  const shown = ends.find((one) => columns([one]) <= room) ?? ends.at(-1);
  return [
    ['dim', `cwd ${shown}${rule}`],
    ['yellow', waiting],
  ];
}

/** Empty during the first minute, and in accessible mode, where it would be read out again every second. */
function waitingText(ms: number, style: UiStyle): string {
  return ms < TOLD_AFTER_MS || style.accessible ? '' : `${separator(style)}waiting ${duration(ms)}`;
}

/** Whether the question may be too long for a screen of `height` rows, so that it has pages. */
export function hasPages(ask: Ask, width: number, height: number, style: UiStyle): boolean {
  const { lines } = subjectLines(ask, Math.min(width, WIDTH_MAX) - 4, style);
  return lines.length > Math.floor(height / 2) - FIXED - KEYS;
}

/** The title: who asks, from where in the tree, for which tool; as much as fits, the tool always. */
function titleOf(state: UiState, ask: Ask, names: readonly string[], width: number, style: UiStyle): string {
  const dash = style.accessible ? '-' : sign(style, '─');
  const count = `1 of ${state.asks.length}`;
  const tool = clean(ask.tool);
  const full = names.join(style.accessible ? ' > ' : ` ${sign(style, '›')} `);
  const titles = [
    `${count} ${dash} ${full} wants: ${tool}`,
    `${count} ${dash} ${names.at(-1)} wants: ${tool}`,
    `${tool}: ${names.at(-1)} ${count}`,
  ];
  return titles.find((title) => columns([title]) <= width) ?? (titles[2] as string);
}

/** Names from the root down to the agent that asks: `main`, `file-reader`, `grep-all`. */
function path(state: UiState, ask: Ask): readonly string[] {
  const names: string[] = [];
  for (let id: string | null = ask.agent_id; id !== null; id = state.agents.get(id)?.parent_id ?? null)
    names.unshift(clean(state.agents.get(id)?.name ?? ask.agent_name));
  return names;
}
