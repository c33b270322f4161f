import { lastMoment } from '../../render/agent-tree.ts';
import { count, duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { columnsOf, fit, pad, type UiStyle } from '../../render/style.ts';
import type { ChildRow, ChildrenView } from '../state/agents/family.ts';
import type { UiState } from '../state/ui-state.ts';
import { columns, line, type Part, separator } from '../text/line.ts';
import { agentSummary, askSummary, mindOf } from './agent-summary.ts';

/** Maximum rows of children at work; the list of all agents is a key away. */
export const CHILDREN_MAX = 8;
const NAME_MAX = 24;
/** Minimum widths at which the model and the figures are shown. */
const MODEL_FROM = 100;
const FIGURES_FROM = 48;

/** A row for each child at work: what it does, and what it has cost; the last row counts the others. */
export function childrenLayer(
  state: UiState,
  { rows, idle }: ChildrenView,
  width: number,
  height: number,
  style: UiStyle,
): string[] {
  if (rows.length === 0 || height < 1) return [];
  const is_cut = rows.length > height || (rows.length === height && idle > 0);
  const shown = is_cut ? chosen(rows, height - 1) : rows;
  const names = shown.map((row) => nameOf(row, style));
  const name_width = Math.min(NAME_MAX, Math.max(0, ...names.map(columnsOf)), Math.floor(width / 3));
  const figures = shown.map((row) => figuresOf(state, row, width >= MODEL_FROM, style));
  const figures_width = width < FIGURES_FROM ? 0 : Math.max(0, ...figures.map(columnsOf));
  const lines = shown.map((row, index) => {
    const [paint, said] = summaryOf(state, row, style);
    if (style.accessible)
      return line(style, width, [`${names[index]}: ${said}, ${(figures[index] ?? '').trim()}`]);
    const before: Part[] = ['  ', pad(fit(names[index] ?? '', name_width, style), name_width), '  '];
    const room = Math.max(0, width - columns(before) - figures_width);
    const after = figures_width === 0 ? '' : pad(figures[index] ?? '', figures_width, 'left');
    return line(style, width, [
      ...before,
      [paint, pad(fit(said, room, style), room)],
      ['dim', after],
    ]).trimEnd();
  });
  const rest = otherAgentsLine(rows.length - shown.length, idle, style);
  return rest === '' ? lines : [...lines, line(style, width, [['dim', `  ${rest}`]])];
}

/** Chooses the rows to show, oldest first; children that wait for the person take precedence. */
function chosen(rows: readonly ChildRow[], count: number): readonly ChildRow[] {
  const asking = rows.filter(({ ask }) => ask !== null).slice(0, count);
  const others = rows.filter(({ ask }) => ask === null).slice(0, count - asking.length);
  const kept = new Set([...asking, ...others]);
  return rows.filter((row) => kept.has(row));
}

function otherAgentsLine(more: number, idle: number, style: UiStyle): string {
  const parts = [...(more > 0 ? [`+${more} more at work`] : []), ...(idle > 0 ? [`${idle} idle`] : [])];
  return parts.join(separator(style));
}

/** The name of a child, with the number of its living descendants. */
function nameOf({ agent, below }: ChildRow, style: UiStyle): string {
  const more = below === 0 ? '' : style.accessible ? ` and ${below} below` : ` (+${below})`;
  return `${clean(agent.name)}${more}`;
}

function summaryOf(
  state: UiState,
  { agent, ask }: ChildRow,
  style: UiStyle,
): ReturnType<typeof agentSummary> {
  if (ask === null) return agentSummary(state, agent, style);
  const asker = ask.agent_id === agent.id ? '' : (state.agents.get(ask.agent_id)?.name ?? '');
  return ['yellow', askSummary(state, ask, asker, style)];
}

function figuresOf(state: UiState, { agent }: ChildRow, with_model: boolean, style: UiStyle): string {
  const { usage } = agent;
  const cost = usage.cost_usd === null ? '' : `  $${usage.cost_usd.toFixed(2)}`;
  const last = lastMoment(agent.state.type, agent.ended_at ?? agent.updated_at, state.now);
  const age = duration(last - agent.created_at);
  const mind = with_model ? mindOf(state, agent) : [];
  const model = mind.length === 0 ? '' : `  ${mind.join(' ')}`;
  if (style.accessible) return `${count(usage.input + usage.output)} tokens${cost}${model}, ${age}`;
  return `${model}  ${count(usage.input + usage.output).padStart(4)}${cost}  ${age.padStart(6)}`;
}
