import type { Agent } from '../../records/agent/agent.ts';
import { lastMoment } from '../../render/agent-tree.ts';
import { count, duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { columnsOf, fit, pad, sign, type UiStyle } from '../../render/style.ts';
import { agentRows, SIDE_FROM, selectedAgent, type TreeRow } from '../state/agents/filtered-agents.ts';
import { type Pulse, pulseAt } from '../state/agents/pulse.ts';
import { numberedAgents, slotOf } from '../state/agents/slots.ts';
import { askOf } from '../state/question-in-view.ts';
import { paneOf, type Overlay as SomeOverlay, totalUsage, type UiState } from '../state/ui-state.ts';
import type { Frame } from '../terminal/screen.ts';
import { columns, line, type Part, separator } from '../text/line.ts';
import { agentText } from './agent-summary.ts';
import { listAndPeek } from './lists/list-and-peek.ts';
import { tasksLine } from './tasks-line.ts';

type Overlay = Extract<SomeOverlay, { readonly type: 'agents' }>;

const NAME_MAX = 34;
const NAME_MIN = 10;
const TOKENS_WIDTH = 7;
const TIME_WIDTH = 7;
/** Minimum width at which figures are shown; below it, names get the room. */
const FIGURES_FROM = 48;
/** Minimum width at which activity is shown. */
const PULSE_FROM = 60;
/** Minimum width at which models are shown. */
const MODEL_FROM = 72;

/** Draws an agent beside or below the list. */
type Peek = (agent_id: string, width: number, height: number) => readonly string[];

/** All agents as a tree, with the selected one beside it on a wide screen, else below it if the person wants to see it. */
export function agentsOverlay(
  state: UiState,
  overlay: Overlay,
  width: number,
  height: number,
  style: UiStyle,
  peek: Peek = () => [],
): Frame {
  const wide = width >= SIDE_FROM;
  if (!(overlay.peek ?? wide)) return listFrame(state, overlay, width, height, style);
  const rows = agentRows(state, overlay.filter, style);
  const selected = selectedAgent(state, overlay, rows) ?? '';
  return listAndPeek(
    (columns, rows) => listFrame(state, overlay, columns, rows, style),
    (columns, rows) => peek(selected, columns, rows),
    ...([width, height, style] as const),
  );
}

/** The tree: rows keep their places while states change; scrolls with the selection. */
function listFrame(state: UiState, overlay: Overlay, width: number, height: number, style: UiStyle): Frame {
  const rows = agentRows(state, overlay.filter, style);
  const selected = selectedAgent(state, overlay, rows);
  const head = headLine(state, overlay.filter, width, style);
  const hints = height >= 4;
  const tasks = height >= 6 ? tasksLine(state, width, style) : null;
  const room = Math.max(0, height - 1 - (hints ? 1 : 0) - (tasks === null ? 0 : 1));
  const place = rows.findIndex(({ agent }) => agent.id === selected);
  const top = scrolled(place, rows.length, room);
  const shown = rows.slice(top, top + room);
  const numbers = new Map([...numberedAgents(state)].map(([number, { id }]) => [id, number]));
  const nameIn = (row: TreeRow): string => nameOf(row, numbers.get(row.agent.id) ?? null, state, style);
  const wanted = Math.max(NAME_MIN, ...rows.map((row) => columnsOf(nameIn(row))));
  const name_width = Math.min(wanted, NAME_MAX, Math.max(NAME_MIN, Math.floor(width * 0.45)));
  const lines = [
    head.text,
    ...shown.map((row) =>
      rowLine(row, nameIn(row), row.agent.id === selected, state, name_width, width, style),
    ),
  ];
  if (rows.length === 0 && room > 0) lines.push(line(style, width, [['dim', '   no agent matches']]));
  if (tasks !== null) lines.push(tasks);
  const asks = selected !== null && askOf(state, selected) !== null;
  if (hints) lines.push(hintLine(rows.length, top, shown.length, asks, width, style));
  return {
    lines: lines.slice(0, height),
    cursor: { row: 0, column: Math.min(head.caret, Math.max(0, width - 1)) },
  };
}

/** The first visible row: keeps the selection in the middle where possible. */
function scrolled(place: number, count: number, room: number): number {
  return Math.max(0, Math.min(count - room, place - Math.floor(room / 2)));
}

function headLine(
  state: UiState,
  filter: string,
  width: number,
  style: UiStyle,
): { text: string; caret: number } {
  const { input, output, cost_usd } = totalUsage(state);
  const total = `${cost_usd === null ? '' : `$${cost_usd.toFixed(2)}  `}${count(input + output)}`;
  const left: Part[] = [
    ['bold', ` Agents ${state.agents.size}`],
    `${separator(style)}filter: ${clean(filter)}`,
  ];
  const caret = columns(left) + (filter.endsWith(' ') ? 1 : 0);
  const space = width - caret - columnsOf(total) - 1;
  const parts =
    space >= 2 ? [...left, ' '.repeat(width - columns(left) - columnsOf(total) - 1), total] : left;
  return { text: line(style, width, parts), caret };
}

function nameOf({ agent, stem }: TreeRow, number: number | null, state: UiState, style: UiStyle): string {
  const name = clean(agent.name);
  if (agent.id === state.root_id) return name;
  const shown = String(slotOf(state, agent.id) ?? number ?? ' ');
  if (style.accessible) return `${'  '.repeat(Math.max(0, agent.depth - 1))}${shown} ${name}`;
  return `${stem.slice(0, -1)}${stem.endsWith('-') ? '-' : ''}${shown} ${name}`;
}

function rowLine(
  { agent }: TreeRow,
  name_shown: string,
  selected: boolean,
  state: UiState,
  name_width: number,
  width: number,
  style: UiStyle,
): string {
  const name = pad(fit(name_shown, name_width, style), name_width);
  const mark = selected ? ` ${style.accessible ? '>' : sign(style, '▸')} ` : '   ';
  const seen = paneOf(state, agent.id);
  const unseen = seen.unseen > 0 ? (style.accessible ? ' (new)' : sign(style, '•')) : ' ';
  const open = seen.capture === null ? '' : sign(style, '✎');
  const before: Part[] = [mark, selected ? ['bold', name] : name, ['green', unseen], open, ' '];
  const pulse = width < PULSE_FROM || style.accessible ? '' : ` ${pulseText(seen.pulse, state.now, style)}`;
  const figures = width < FIGURES_FROM ? '' : `${pulse}${figuresOf(agent, state.now)}`;
  const room = width - columns(before) - columnsOf(figures);
  const [paint, text] = agentText(state, agent, style, width >= MODEL_FROM);
  const told = pad(fit(text, Math.max(0, room), style), Math.max(0, room));
  return line(style, width, [...before, [paint, told], figures]).trimEnd();
}

const LEVELS = { unicode: '▁▂▃▄▅▆▇█', ascii: '_.:-=+*#' } as const;

/** Ten cells: how much was heard of an agent lately. */
function pulseText(pulse: Pulse, now: number, style: UiStyle): string {
  const levels = style.unicode ? LEVELS.unicode : LEVELS.ascii;
  const cells = pulseAt(pulse, now);
  if (cells.every((amount) => amount === 0)) return ' '.repeat(cells.length);
  return cells
    .map((amount) => levels[Math.min(levels.length - 1, Math.ceil(Math.log2(1 + amount / 8)))])
    .join('');
}

function figuresOf(agent: Agent, now: number): string {
  const used = agent.usage.input + agent.usage.output;
  const tokens = used === 0 ? '' : count(used);
  const last = lastMoment(agent.state.type, agent.ended_at ?? agent.updated_at, now);
  return `${tokens.padStart(TOKENS_WIDTH)}${duration(last - agent.created_at).padStart(TIME_WIDTH)} `;
}

function hintLine(
  total: number,
  top: number,
  shown: number,
  asks: boolean,
  width: number,
  style: UiStyle,
): string {
  const place = shown < total ? `${top + 1}-${top + shown} of ${total}  ` : '';
  const answers = asks ? ['y allow', 'n deny'] : [];
  const others = ['s send', 'k kill', 'i kill idle', 'r reap', '1-9 pin', 'Esc'];
  const keys = [...answers, 'Enter open', 'Space peek', ...others].join(separator(style));
  return line(style, width, [['dim', ` ${place}${keys}`]]);
}
