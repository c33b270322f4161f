import type { Ask } from '../../records/conversation/ask.ts';
import { duration } from '../../render/amounts.ts';
import { type AskPart, askParts } from '../../render/ask-parts.ts';
import { clean } from '../../render/clean.ts';
import { cutLines, cutMiddle } from '../../render/plain-sight.ts';
import { type Paint, sign, type UiStyle } from '../../render/style.ts';
import { type Shortcuts, STANDARD_SHORTCUTS } from '../keys/shortcuts.ts';
import type { Answer } from '../state/answer.ts';
import type { Question, UiState } from '../state/ui-state.ts';
import { columns, type Part, separator } from '../text/line.ts';
import { PIECE_MAX, pieceMax, wrap } from '../text/wrap.ts';
import { box } from './box.ts';

const WIDTH_MAX = 90;
/** Rows other than the call itself: frame, folder and rule, keys. */
const FIXED = 5;
const ACCESSIBLE_FIXED = 4;
/** How long a question has waited before the box says so. */
const TOLD_AFTER_MS = 60_000;

export interface AskingKeys {
  readonly shortcuts: Shortcuts;
  /** There is a draft: letters extend it, and only chords answer. */
  readonly drafting: boolean;
  /** How to see the lines for which there is no room. */
  readonly whole?: string;
}

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
  const title = titleOf(state, ask, wide - 6, style);
  const fixed = style.accessible ? ACCESSIBLE_FIXED : FIXED;
  const rows: (readonly Part[])[] = [
    ...subjectRows(ask, question.page, wide - 4, Math.max(1, height - fixed), style, keys),
    [
      ['dim', `cwd ${clean(ask.cwd)}${separator(style)}rule: ${clean(ask.rule)}`],
      ['yellow', waitingText(state.now - ask.asked_at, style)],
    ],
    ...keyRows(question, keys, wide - 4),
  ];
  const lines = box(title, rows, wide, style);
  if (lines.length <= height || style.accessible) return lines.slice(0, height);
  // No room for the frame: the call and the keys take precedence.
  const kept = [[['bold', title] as const], rows[0] ?? [], ...keyRows(question, keys, wide)];
  return box(title, kept.slice(1), wide, { ...style, accessible: true }).slice(0, height);
}

/** From a minute on; spoken, it would be said again every second. */
function waitingText(ms: number, style: UiStyle): string {
  return ms < TOLD_AFTER_MS || style.accessible ? '' : `${separator(style)}waiting ${duration(ms)}`;
}

/** Whether the question may not fit a screen of `height` rows, so that it has pages. */
export function hasPages(ask: Ask, width: number, height: number, style: UiStyle): boolean {
  const { lines } = subjectLines(ask, Math.min(width, WIDTH_MAX) - 4, style);
  return lines.length > Math.floor(height / 2) - FIXED;
}

/** What the call would do: all of it if there is room, else its beginning and end, or a page; a mark says what is missing. */
function subjectRows(
  ask: Ask,
  page: number,
  width: number,
  rows: number,
  style: UiStyle,
  { whole = 'PgDn shows them' }: AskingKeys,
): (readonly Part[])[] {
  const { lines, left_out } = subjectLines(ask, width, style);
  if (rows === 1 && lines.length > 1) {
    const all = lines.map(({ text }) => text).join(' ');
    return [[['bold', cutMiddle(all, Math.max(1, width - MARK_ROOM))]]];
  }
  const but = left_out === 0 ? '' : `, but for ${left_out} characters`;
  return pageOf(lines, page, rows, (told) => ({
    text: `${sign(style, '…')} ${typeof told === 'number' ? `+${told} lines more: ${whole}${but}` : told}`,
    paint: 'yellow' as const,
  })).map(({ text, paint }) => [[paint, text]]);
}

/** Page 0 has the beginning and the end; the others are consecutive, and after the last one comes 0 again. */
function pageOf(
  lines: readonly AskRow[],
  page: number,
  rows: number,
  mark: (told: number | string) => AskRow,
): readonly AskRow[] {
  const size = Math.max(1, rows - 1);
  const pages = lines.length > rows ? Math.ceil(lines.length / size) + 1 : 1;
  const at = ((page % pages) + pages) % pages;
  if (at === 0) return cutLines(lines, rows, mark);
  // The last page is full, so that the box keeps its height.
  const from = Math.min((at - 1) * size, lines.length - size);
  const told = `${from + 1}-${from + size} of ${lines.length} lines: PgUp, PgDn`;
  return [...lines.slice(from, from + size), mark(told)];
}

interface SubjectLines {
  readonly key: string;
  readonly lines: readonly AskRow[];
  /** Characters that are in no line. */
  readonly left_out: number;
}

/** The box is drawn many times a second, and an ask does not change. */
const CACHE = new WeakMap<Ask, SubjectLines>();

/** Maximum pieces shown of one argument, and of all together; a longer text loses its middle. */
const PIECES = 4;
const ARGUMENT_MAX = PIECES * PIECE_MAX;
const ROOM_MIN = 200;

function subjectLines(ask: Ask, width: number, style: UiStyle): SubjectLines {
  const key = `${width} ${style.unicode}`;
  const kept = CACHE.get(ask);
  if (kept?.key === key) return kept;
  let [share, left_out] = [1, 0];
  const lines = askParts(ask, ARGUMENT_MAX).flatMap((part): AskRow[] => {
    const text = textOf(part);
    const most = PIECES * pieceMax(text);
    const near = cutMiddle(text, Math.max(ROOM_MIN, Math.floor(share * most)), part.left_out);
    share -= near.length / most;
    left_out += part.left_out + Math.max(0, text.length - near.length);
    const shown = wrap(near, width, style);
    return shown.map((row) => ({ text: row, paint: part.language === 'diff' ? paintOf(row) : 'bold' }));
  });
  const all = { key, lines, left_out };
  CACHE.set(ask, all);
  return all;
}

interface AskRow {
  readonly text: string;
  readonly paint: Paint;
}

/** Room for the mark that says how much of a line is left out. */
const MARK_ROOM = 24;

function textOf({ name, is_subject, text }: AskPart): string {
  const trimmed = text.trimEnd();
  if (is_subject || name === '') return trimmed;
  return trimmed.includes('\n') ? `${name}:\n${trimmed}` : `${name}: ${trimmed}`;
}

function paintOf(line: string): Paint {
  if (line.startsWith('+')) return 'green';
  return line.startsWith('-') ? 'red' : 'dim';
}

/** Every key is always visible, with fewer words where there is less room. */
function keyRows(
  { saying, held }: Question,
  { shortcuts, drafting }: AskingKeys,
  width: number,
): (readonly Part[])[] {
  if (saying !== null)
    return [[`why not: ${clean(saying)}`], [['dim', 'Enter denies with these words   Esc back']]];
  if (held !== null)
    return [[key(held.text), ` ${HELD[held.answer]} in a moment`], [['dim', 'any other key: it was text']]];
  if (drafting) return chordRows(shortcuts, width);
  if (width >= 50)
    return [
      [
        key('y'),
        ' once   ',
        key('s'),
        ' this agent, session   ',
        key('n'),
        ' deny   ',
        key('m'),
        ' deny+say',
      ],
      [key('v'), ' view agent   ', key('Esc'), ' later (stays queued)'],
    ];
  if (width >= 30)
    return [
      [key('y'), ' once  ', key('s'), ' agent  ', key('n'), ' deny  ', key('m'), ' say'],
      [key('v'), ' view  ', key('Esc'), ' later'],
    ];
  return [[key('y'), ' yes ', key('n'), ' no ', key('s'), ' ', key('m'), ' ', key('v'), ' ', key('Esc')]];
}

const HELD: Readonly<Record<Answer, string>> = {
  allow: 'allows this once',
  allow_agent: 'allows this agent the tool',
  deny: 'denies',
  deny_saying: 'asks for your words',
  view_asker: 'goes to the agent',
};

/** With a draft, only chords answer. */
function chordRows(shortcuts: Shortcuts, width: number): (readonly Part[])[] {
  const chord = (action: Answer, long: string, short: string): Part[] => {
    const name = shortcuts.whole(action);
    return name === null ? [] : [key(name), ` ${width >= 76 ? long : short}  `];
  };
  const first = [...chord('allow', 'once', 'once'), ...chord('allow_agent', 'this agent, session', 'agent')];
  const second = [...chord('deny', 'deny', 'deny'), ...chord('deny_saying', 'deny+say', 'say')];
  const last = [
    ...chord('view_asker', 'view agent', 'view'),
    key('Esc'),
    width >= 50 ? ' later (stays queued)' : ' later',
  ];
  return width >= 76
    ? [[...first, ...second], last]
    : [
        [...first, ...second.slice(0, 2)],
        [...second.slice(2), ...last],
      ];
}

function key(name: string): Part {
  return ['bold', name];
}

/** Who asks, from where in the tree, for which tool: as much as fits, the tool always. */
function titleOf(state: UiState, ask: Ask, width: number, style: UiStyle): string {
  const dash = style.accessible ? '-' : sign(style, '─');
  const count = `1 of ${state.asks.length}`;
  const tool = clean(ask.tool);
  const names = path(state, ask);
  const full = names.join(style.accessible ? ' > ' : ` ${sign(style, '›')} `);
  const titles = [
    `${count} ${dash} ${full} wants: ${tool}`,
    `${count} ${dash} ${names.at(-1)} wants: ${tool}`,
    `${tool}: ${names.at(-1)} ${count}`,
  ];
  return titles.find((title) => columns([title]) <= width) ?? (titles[2] as string);
}

/** `main`, `file-reader`, `grep-all`. */
function path(state: UiState, ask: Ask): readonly string[] {
  const names: string[] = [];
  for (let id: string | null = ask.agent_id; id !== null; id = state.agents.get(id)?.parent_id ?? null)
    names.unshift(clean(state.agents.get(id)?.name ?? ask.agent_name));
  return names;
}
