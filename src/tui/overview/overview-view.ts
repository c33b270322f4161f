import { basename } from 'node:path';
import type { TreeRow } from '../../documents/shapes/agent-parts.ts';
import { nameOf, shownWord } from '../../records/run/outcome.ts';
import { endOfText } from '../../records/text/cut-text.ts';
import { count, duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { statePaint, stateSign } from '../../render/state-mark.ts';
import { columnsOf, fit, type Paint, pad, sign, type UiStyle } from '../../render/style.ts';
import type { Shortcuts } from '../keys/shortcuts.ts';
import type { Frame } from '../terminal/screen.ts';
import { columns, line, type Part, separator } from '../text/line.ts';
import { markdown } from '../text/markdown.ts';
import { approvalBox } from '../views/approvals/approval-box.ts';
import {
  type Group,
  grouped,
  groupOf,
  type OverviewState,
  type Peek,
  selectedTree,
} from './overview-state.ts';

const COST_WIDTH = 8;
const TITLE_MIN = 16;
const FOLDER_MAX = 16;
/** Minimum widths at which the folder and the figures are shown. */
const FOLDER_FROM = 80;
const FIGURES_FROM = 60;

/** Draws all trees of the ledger, grouped by why a person should look; below them, the peek, if one is open. */
export function overviewView(
  state: OverviewState,
  width: number,
  height: number,
  style: UiStyle,
  shortcuts: Shortcuts,
): Frame {
  const hint = height >= 4 ? [hintLine(state, width, style, shortcuts)] : [];
  const peek = peekView(state, width, Math.floor((height - 2) / 2), style, shortcuts);
  const room = Math.max(0, height - 1 - hint.length - peek.length);
  const rows = overviewRows(state, width, style);
  const selected = selectedTree(state)?.root_id;
  const place = rows.findIndex(({ root_id }) => root_id !== null && root_id === selected);
  // The heading of the first group stays in view.
  const top = place <= 1 ? 0 : Math.max(0, Math.min(rows.length - room, place - Math.floor(room / 2)));
  const shown = rows.slice(top, top + room).map(({ text }) => text);
  const lines = [headLine(state, width, style), ...shown, ...peek, ...hint];
  return { lines: lines.slice(0, height), cursor: null };
}

/** `root_id`: null for a heading. */
interface Row {
  readonly root_id: string | null;
  readonly text: string;
}

/** Draws the whole list; `marks`: whether the selected row is marked. */
export function overviewRows(
  state: OverviewState,
  width: number,
  style: UiStyle,
  marks = true,
): readonly Row[] {
  if (!state.loaded) return [];
  const groups = grouped(state);
  if (groups.length === 0)
    return [
      {
        root_id: null,
        text: line(style, width, [['dim', state.trees.length === 0 ? ' no trees yet' : ' no matches']]),
      },
    ];
  const selected = marks ? selectedTree(state)?.root_id : undefined;
  const widths = widthsFor(state.trees, width);
  return groups.flatMap(({ group, title, trees }) => [
    {
      root_id: null,
      text: line(style, width, [' ', [GROUP_PAINT[group], title], ['dim', ` ${trees.length}`]]),
    },
    ...trees.map((tree) => ({
      root_id: tree.root_id,
      text: rowLine(tree, tree.root_id === selected, state, widths, width, style),
    })),
  ]);
}

const GROUP_PAINT: Readonly<Record<Group, Paint>> = {
  approval: 'yellow',
  trouble: 'red',
  unread: 'green',
  work: 'cyan',
  done: 'dim',
};

interface Widths {
  readonly title: number;
  readonly folder: number;
  readonly cost: number;
}

function widthsFor(trees: readonly TreeRow[], width: number): Widths {
  const widest = (texts: readonly string[]): number => Math.max(0, ...texts.map(columnsOf));
  const title = widest(trees.map((tree) => clean(tree.title).slice(0, width)));
  const folder = width < FOLDER_FROM ? 0 : Math.min(FOLDER_MAX, widest(trees.map(folderOf)));
  const cost = trees.some(({ cost_usd }) => cost_usd > 0) ? COST_WIDTH : 0;
  return { cost, title: Math.min(Math.max(TITLE_MIN, title), Math.floor(width * 0.36)), folder };
}

function folderOf({ cwd }: TreeRow): string {
  return clean(basename(cwd) || cwd);
}

function rowLine(
  tree: TreeRow,
  selected: boolean,
  state: OverviewState,
  widths: Widths,
  width: number,
  style: UiStyle,
): string {
  const title = clean(tree.title);
  const [paint, told] = treeSummary(tree, groupOf(tree, state), state.now, style);
  const figures = figuresOf(tree, state.now, widths.cost, style);
  const mark = selected ? ` ${style.accessible ? '>' : sign(style, '▸')} ` : '   ';
  if (style.accessible) return line(style, width, [mark, `${title}, ${folderOf(tree)}: ${told}, ${figures}`]);
  const shown = pad(fit(title, widths.title, style), widths.title);
  const folder =
    widths.folder === 0 ? '' : `  ${pad(fit(folderOf(tree), widths.folder, style), widths.folder)}`;
  const before: Part[] = [mark, selected ? ['bold', shown] : shown, ['dim', folder], '  '];
  const after = width < FIGURES_FROM ? '' : figures;
  const room = Math.max(0, width - columns(before) - columnsOf(after));
  return line(style, width, [
    ...before,
    [paint, pad(fit(told, room, style), room)],
    ['dim', after],
  ]).trimEnd();
}

/** Summary of a tree: what it is doing, or why a person should look at it. */
export function treeSummary(
  tree: TreeRow,
  group: Group,
  now: number,
  style: UiStyle,
): readonly [Paint, string] {
  const { status, outcome, outcome_text, asked, asked_at, approvals, doing, unled } = tree;
  if (group === 'approval') {
    const more = approvals > 1 ? ` (+${approvals - 1})` : '';
    const since = asked_at === null ? '' : ` ${duration(now - Date.parse(asked_at))}`;
    return [
      'yellow',
      `${style.accessible ? '' : '! '}waits for you${since}${more}${separator(style)}${clean(asked ?? '')}`,
    ];
  }
  const shown = shownWord(status, outcome);
  const word = style.accessible ? nameOf(shown) : `${stateSign(shown, style)} ${nameOf(shown)}`;
  const why = unled === null ? outcome_text : `${unled.why}: ${unled.next}`;
  const said = group === 'trouble' ? why.replace(`${nameOf(shown)}: `, '') : doing;
  return [statePaint(shown), said == null || said === '' ? word : `${word}${separator(style)}${clean(said)}`];
}

/** Agents at work and in all, tokens, cost, age. */
function figuresOf(
  { working, agents, tokens, cost_usd, started_at }: TreeRow,
  now: number,
  cost_width: number,
  style: UiStyle,
): string {
  const many = working > 0 ? `${working}/${agents}` : String(agents);
  const cost = cost_usd === 0 ? '' : `$${cost_usd.toFixed(2)}`;
  const age = duration(now - Date.parse(started_at));
  if (style.accessible)
    return [`${many} ${many === '1' ? 'agent' : 'agents'}`, `${count(tokens)} tokens`, cost, age]
      .filter((text) => text !== '')
      .join(', ');
  return `${many.padStart(7)}${count(tokens).padStart(6)}${cost.padStart(cost_width)}${age.padStart(7)} `;
}

function headLine(state: OverviewState, width: number, style: UiStyle): string {
  const { trees, loaded, filter } = state;
  const asked = filter === '' ? '' : `${separator(style)}filter: ${clean(filter.trimStart())}`;
  const left = loaded ? ` ${overviewHead(state, style)}${asked}` : ' Trees: loading';
  const tokens = count(trees.reduce((sum, tree) => sum + tree.tokens, 0));
  const cost = trees.reduce((sum, tree) => sum + tree.cost_usd, 0);
  const total = loaded ? `${cost === 0 ? '' : `$${cost.toFixed(2)}  `}${tokens}` : '';
  const space = width - columnsOf(left) - columnsOf(total) - 1;
  return line(style, width, [['bold', left], space < 2 ? '' : `${' '.repeat(space)}${total}`]);
}

/** `Trees 30 · 2 waiting for you · 3 at work`. */
export function overviewHead(state: Parameters<typeof grouped>[0], style: UiStyle): string {
  const told = grouped(state)
    .filter(({ group }) => group !== 'done')
    .map((one) => `${one.trees.length} ${WORDS[one.group]}`);
  return [`Trees ${state.trees.length}`, ...told].join(separator(style));
}

const WORDS: Readonly<Record<Group, string>> = {
  approval: 'waiting for you',
  trouble: 'in trouble',
  unread: 'unread',
  work: 'at work',
  done: 'done',
};

const ANSWERS = [
  ['allow', 'once'],
  ['allow_rule', 'from now on'],
  ['deny', 'deny'],
  ['deny_saying', 'deny and say'],
  ['view_asker', 'go there'],
] as const;

function hintLine(state: OverviewState, width: number, style: UiStyle, shortcuts: Shortcuts): string {
  const { notice, peek } = state;
  if (notice !== null) return line(style, width, [[notice.bad ? 'red' : 'green', ` ${clean(notice.text)}`]]);
  const answers =
    peek?.window.question == null ? [] : ['letters answer', `or ${shortcuts.leader} and the letter`];
  const behind = ANSWERS.flatMap(([action, word]) => {
    const key = shortcuts.short(action);
    return key === null ? [] : [`${key} ${word}`];
  });
  const hints = state.leader
    ? [...behind, 'Esc back']
    : [...answers, peek === null ? 'Space peek' : 'Space close', 'Enter open', 'Tab next for you', 'Esc'];
  return line(style, width, [['dim', ` ${hints.join(separator(style))}`]]);
}

/** Maximum characters read from the end of what was said. */
const TAIL = 4_000;

/** Draws what a tree asks, or the last lines of what was said there; nothing without a peek. */
function peekView(
  { peek, trees }: OverviewState,
  width: number,
  height: number,
  style: UiStyle,
  shortcuts: Shortcuts,
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
  return [
    head,
    ...unled,
    ...(asked(peek, width, rows, style, shortcuts) ?? lastWordsLines(peek, width, rows, style)),
  ];
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

function lastWordsLines(
  { said: text }: Peek,
  width: number,
  height: number,
  style: UiStyle,
): readonly string[] {
  if (text === null) return [];
  if (text.trim() === '') return [line(style, width, [['dim', ' nothing was said yet']])];
  const lines = [...markdown(endOfText(text, TAIL), width - 1, style)].flat();
  return lines.slice(-height).map((row) => (row === '' ? '' : ` ${row}`));
}
