import { isWorking, type StateType } from '../records/agent/state.ts';
import { resultLine } from '../records/conversation/child-text.ts';
import { type OutcomeWord, shownWord } from '../records/run/outcome.ts';
import { count, duration } from './amounts.ts';
import { clean } from './clean.ts';
import { type StateWord, stateMark } from './state-mark.ts';
import { columnsOf, fit, pad, paint, type Style } from './style.ts';
import { type TreeRow, treeRows } from './tree-rows.ts';

/** The shown fields of an agent, as in its JSON document. */
export interface ShownAgent {
  readonly id: string;
  readonly parent_id: string | null;
  readonly name: string;
  readonly status: StateWord;
  readonly outcome: OutcomeWord;
  readonly outcome_text: string;
  readonly state: StateType;
  readonly tool_calls: number;
  readonly tokens: { readonly input: number; readonly output: number };
  readonly cost_usd: number | null;
  readonly doing: string | null;
  readonly held?: { readonly text: string; readonly until: string | null } | null;
  readonly paused?: object | null;
  readonly open_approvals?: number;
  readonly last_reply: string | null;
  readonly result: string | null;
  readonly error: { readonly message: string } | null;
  readonly limit: string | null;
  readonly started_at: string;
  readonly updated_at: string;
  readonly ended_at: string | null;
}

export interface TreeSize {
  readonly width: number;
  /** Maximum rows; if there are more, the last row counts the hidden ones. */
  readonly height: number;
}

const NAME_MAX = 34;
const NAME_MIN = 8;
/** Minimum width of the status column, that of `◔ waiting`. */
const STATUS_WIDTH = 9;
const GAP = 2;
const TIME_WIDTH = 6;
const DOING_MIN = 4;

/** Columns of figures, widest first; the first variant that leaves room for the names is used. */
const FIGURES: readonly ((agent: ShownAgent) => string)[] = [
  (agent) =>
    `${pad(String(agent.tool_calls), 4, 'left')} ${agent.tool_calls === 1 ? 'call ' : 'calls'} ${pad(tokens(agent), 5, 'left')} tok `,
  (agent) => `${pad(String(agent.tool_calls), 4, 'left')} ${pad(tokens(agent), 5, 'left')} `,
  () => '',
];
const FIGURES_WIDTH = [21, 11, 0] as const;

/** A tree of agents, one line each, oldest first. */
export function agentTree(
  agents: readonly ShownAgent[],
  size: TreeSize,
  now: number,
  style: Style,
): string[] {
  const rows = treeRows(agents, style, ({ started_at }) => Date.parse(started_at));
  const shown = rows.length <= size.height ? rows : rows.slice(0, Math.max(0, size.height - 1));
  const wanted = Math.max(
    NAME_MIN,
    ...shown.map(({ stem, agent }) => columnsOf(stem) + columnsOf(clean(agent.name))),
  );
  const status_width = Math.max(STATUS_WIDTH, ...shown.map(({ agent }) => columnsOf(markOf(agent, style))));
  const layout = layOut(
    size.width === Infinity ? wanted : Math.min(NAME_MAX, wanted),
    status_width,
    size.width,
  );
  const lines = shown.map((row) => line(row, layout, now, style));
  if (shown.length < rows.length && size.height > 0) {
    const hidden = rows.slice(shown.length);
    const working = hidden.filter(({ agent }) => isWorking(agent.state)).length;
    const more = `  +${hidden.length} more${working > 0 ? `, ${working} at work` : ''}`;
    lines.push(fit(more, size.width, style));
  }
  return lines;
}

interface Layout {
  readonly name_width: number;
  readonly status_width: number;
  /** Null: there is no room even for the time. */
  readonly figures: ((agent: ShownAgent) => string) | null;
  readonly doing_width: number;
}

function layOut(wanted: number, status_width: number, width: number): Layout {
  const fixed = status_width + GAP + GAP + TIME_WIDTH;
  const place = FIGURES_WIDTH.findIndex((figures) => wanted + fixed + figures <= width);
  const level = place === -1 ? FIGURES.length - 1 : place;
  const name_width = Math.min(wanted, Math.max(NAME_MIN, width - fixed));
  const used = name_width + fixed + (FIGURES_WIDTH[level] ?? 0);
  const figures = used <= width ? (FIGURES[level] ?? null) : null;
  return { name_width, status_width, figures, doing_width: width - used - GAP };
}

function line({ agent, stem }: TreeRow<ShownAgent>, layout: Layout, now: number, style: Style): string {
  const name = pad(fit(`${stem}${clean(agent.name)}`, layout.name_width, style), layout.name_width);
  const head = `${name}${' '.repeat(GAP)}${pad(markOf(agent, style), layout.status_width)}`;
  if (layout.figures === null) return head.trimEnd();
  const time = pad(
    duration(
      lastMoment(agent.state, Date.parse(agent.ended_at ?? agent.updated_at), now) -
        Date.parse(agent.started_at),
    ),
    TIME_WIDTH,
    'left',
  );
  const doing = layout.doing_width < DOING_MIN ? '' : fit(activityOf(agent, now), layout.doing_width, style);
  const activity = doing === '' ? '' : `${' '.repeat(GAP)}${paint(style, 'dim', doing)}`;
  return `${head}${' '.repeat(GAP)}${layout.figures(agent)}${time}${activity}`;
}

/** End of the time shown for an agent: `now` while it works. */
export function lastMoment(state: StateType, rests_since: number, now: number): number {
  return isWorking(state) ? now : rests_since;
}

function tokens(agent: ShownAgent): string {
  return count(agent.tokens.input + agent.tokens.output);
}

/** What a working agent does or waits for, with the time that is left of a wait. */
export function doingNow(
  { held, paused, doing, outcome_text }: Pick<ShownAgent, 'held' | 'paused' | 'doing' | 'outcome_text'>,
  now: number,
): string {
  if (paused != null) return outcome_text;
  if (held?.until == null) return held?.text ?? doing ?? '';
  return held.text.replace(/\d+ s/, `${Math.max(0, Math.round((Date.parse(held.until) - now) / 1_000))} s`);
}

function markOf({ status, outcome, outcome_text }: ShownAgent, style: Style): string {
  return stateMark(shownWord(status, outcome, outcome_text), style);
}

/** The agent's current activity; at rest its result or last reply, and how its turn ended unless that is well. */
function activityOf({ error, limit, outcome, outcome_text, ...agent }: ShownAgent, now: number): string {
  if (error !== null) return clean(error.message);
  if (agent.doing !== null) return clean(doingNow({ ...agent, outcome_text }, now));
  const text = agent.result ?? agent.last_reply;
  const why = limit ?? (outcome === 'stopped' ? outcome_text : null);
  return clean(resultLine(text === null ? '' : `"${text}"`, why)).trim();
}
