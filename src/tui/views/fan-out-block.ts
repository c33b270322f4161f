import { standsStill } from '../../records/conversation/parked.ts';
import { count, duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { type StateWord, statePaint, stateSign } from '../../render/state-mark.ts';
import { columnsOf, fit, pad, sign, type UiStyle } from '../../render/style.ts';
import type { FanOutRow, FanOutView } from '../state/agents/fan-in-view.ts';
import type { UiState } from '../state/ui-state.ts';
import { columns, line, type Part, separator } from '../text/line.ts';
import { agentSummary, heardAt, type Summary } from './agent-summary.ts';

const NAME_MAX = 24;
const BAR_CELLS = 12;
/** Minimum widths at which the bar, the model and the figures are shown. */
const BAR_FROM = 70;
const MODEL_FROM = 100;
const FIGURES_FROM = 48;

/** What an agent of the block needs, most urgent first; those at rest are only named in the last line. */
const GROUPS = ['asks', 'trouble', 'work', 'held', 'paused', 'idle', 'received', 'dead'] as const;
type Group = (typeof GROUPS)[number];

const WORDS: Readonly<Record<Group, readonly [word: string, mark: StateWord]>> = {
  asks: ['ask', 'waiting_for_you'],
  // Not the sign of those that ask.
  trouble: ['failed', 'failed'],
  work: ['at work', 'running'],
  held: ['wait for your answer', 'waiting'],
  paused: ['wait for the provider', 'waiting'],
  idle: ['idle', 'idle'],
  received: ['received', 'received'],
  dead: ['dead', 'dead'],
};
const COUNTED: readonly Group[] = ['received', 'work', 'held', 'paused', 'asks', 'trouble', 'idle', 'dead'];

function groupOf({ status, branch }: FanOutRow): Group {
  if (branch?.ask != null) return 'asks';
  if (status === 'received' || status === 'dead') return status;
  if (branch?.agent.state.type === 'errored') return 'trouble';
  if (status === 'waiting') return 'paused';
  // By the answer to the question of another agent.
  if (branch !== undefined && standsStill(branch.agent.state)) return 'held';
  return status === 'idle' ? 'idle' : 'work';
}

/** Several agents: a head that counts them, rows for those that ask, failed or are at work, and the others in one line. Never higher than `height`. */
export function fanOutBlock(
  state: UiState,
  view: FanOutView,
  width: number,
  height: number,
  style: UiStyle,
): string[] {
  const groups = Map.groupBy(view.rows, groupOf);
  // In the order in which they are answered.
  const turnOf = ({ branch }: FanOutRow) => state.asks.findIndex(({ id }) => id === branch?.ask?.id);
  groups.get('asks')?.sort((a, b) => turnOf(a) - turnOf(b));
  const [only] = view.rows;
  const headed = view.awaited || view.rows.length > 1;
  if (height < (headed ? 2 : 1) || only === undefined) return [];
  const head = headed ? [headLine(state, view, groups, width, style)] : [];
  const rows = (['asks', 'trouble', 'work', 'held', 'paused'] as const).flatMap(
    (group) => groups.get(group) ?? [],
  );
  const room = height - head.length;
  const shown = rows.length < view.rows.length || rows.length > room ? rows.slice(0, room - 1) : rows;
  const rest = [...groups.values()].flat().filter((row) => !shown.includes(row));
  return [
    ...head,
    ...rowLines(state, shown, width, style),
    ...(rest.length === 0 ? [] : [restLine(rest, width, style)]),
  ];
}

function headLine(
  state: UiState,
  { head, awaited, since, until, rows }: FanOutView,
  groups: ReadonlyMap<Group, readonly FanOutRow[]>,
  width: number,
  style: UiStyle,
): string {
  const counted = COUNTED.flatMap((group) => {
    const { length } = groups.get(group) ?? [];
    return length === 0 ? [] : [`${length} ${WORDS[group][0]}`];
  });
  if (style.accessible)
    return line(style, width, [`${awaited ? 'Waiting: ' : ''}${head}: ${counted.join(', ')}`]);
  const filled = Math.floor((BAR_CELLS * (groups.get('received')?.length ?? 0)) / Math.max(1, rows.length));
  const bar = sign(style, '█').repeat(filled) + sign(style, '░').repeat(BAR_CELLS - filled);
  const clock =
    since === null || until === null ? '' : ` ${duration(state.now - since)} / ${duration(until - since)}`;
  const room = Math.max(0, width - columnsOf(clock));
  const [begin, counts] = [
    [['cyan', sign(style, '●')] as const, ` ${head}  `],
    counted.join(separator(style)),
  ];
  const whole: Part[] = [...begin, ['green', `${bar} `], counts];
  // The bar says less than the counts.
  const parts = awaited && width >= BAR_FROM && columns(whole) <= room ? whole : [...begin, counts];
  const gap = ' '.repeat(Math.max(0, room - columns(parts)));
  return `${line(style, room, parts)}${gap}${line(style, width, [['dim', clock]])}`.trimEnd();
}

function rowLines(state: UiState, rows: readonly FanOutRow[], width: number, style: UiStyle): string[] {
  const names = rows.map((row) => nameOf(state, row, style));
  const name_width = Math.min(NAME_MAX, Math.max(0, ...names.map(columnsOf)), Math.floor(width / 3));
  const figures = rows.map((row) => figuresOf(state, row, style));
  const figures_width = width < FIGURES_FROM ? 0 : Math.max(0, ...figures.map(columnsOf));
  return rows.map((row, index) => {
    const [paint, mark, said] = summaryOf(state, row, width, style);
    const name = names[index] ?? '';
    if (style.accessible) return line(style, width, [`${name}: ${said}, ${(figures[index] ?? '').trim()}`]);
    const before: Part[] = [[paint, `  ${mark} `], pad(fit(name, name_width, style), name_width), '  '];
    const room = Math.max(0, width - columns(before) - figures_width);
    const after = figures_width === 0 ? '' : pad(figures[index] ?? '', figures_width, 'left');
    const shown = pad(fit(said, room, style), room);
    const told: Part = row.branch?.ask == null ? shown : [paint, shown];
    return line(style, width, [...before, told, ['dim', after]]).trimEnd();
  });
}

/** The name, and that of the descendant that asks, or the number of the living ones. */
function nameOf(state: UiState, { name, branch }: FanOutRow, style: UiStyle): string {
  if (branch?.ask != null && branch.ask.agent_id !== branch.agent.id)
    return `${name} ${style.accessible ? '>' : sign(style, '›')} ${clean(state.agents.get(branch.ask.agent_id)?.name ?? '')}`;
  const below = branch?.below ?? 0;
  return below === 0 ? name : style.accessible ? `${name} and ${below} below` : `${name} (+${below})`;
}

function summaryOf(state: UiState, { branch }: FanOutRow, width: number, style: UiStyle): Summary {
  if (branch === undefined) return ['dim', stateSign('dead', style), 'gone'];
  const { agent, ask } = branch;
  if (ask === null) return agentSummary(state, agent, style, width >= MODEL_FROM);
  return ['yellow', '!', `${style.accessible ? 'asks: ' : ''}${clean(ask.tool)} ${clean(ask.subject)}`];
}

/** How long ago it last did something, or has asked, and its tokens. */
function figuresOf(state: UiState, { branch }: FanOutRow, style: UiStyle): string {
  if (branch === undefined) return '';
  const { agent, ask } = branch;
  const { usage } = agent;
  const since = duration(state.now - (ask?.asked_at ?? heardAt(state, agent)));
  const age = ask === null ? `${since} ago` : `asks ${since}`;
  const tokens = count(usage.input + usage.output);
  return style.accessible ? `${tokens} tokens` : `  ${age.padStart(9)} ${tokens.padStart(6)}`;
}

/** The agents without a row, by what they need, each kind with as many names as fit. */
function restLine(rest: readonly FanOutRow[], width: number, style: UiStyle): string {
  const groups = [...Map.groupBy(rest, groupOf)].sort(([a], [b]) => GROUPS.indexOf(a) - GROUPS.indexOf(b));
  const share = Math.floor((width - 2) / groups.length);
  return line(
    style,
    width,
    groups.flatMap(([group, rows]): Part[] => {
      const [word, mark] = WORDS[group];
      const before = style.accessible ? `${rows.length} ${word}:` : stateSign(mark, style);
      let text = before;
      let shown = 0;
      for (const { name } of rows) {
        const more = rows.length - shown - 1;
        if (columnsOf(`${text} ${name}${more > 0 ? ` +${more}` : ''}  `) > share) break;
        text += ` ${name}`;
        shown += 1;
      }
      const left = rows.length - shown;
      return ['  ', [statePaint(mark), `${text}${left > 0 ? ` +${left}` : ''}`]];
    }),
  );
}
