import { type Agent, isActive } from '../../records/agent/agent.ts';
import { isWorking } from '../../records/agent/state.ts';
import { pauseOf } from '../../records/conversation/parked.ts';
import { duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { fit, pad, sign, type UiStyle } from '../../render/style.ts';
import { selectedOf, type WorkflowView, workflowRuns, workflowView } from '../state/agents/workflow-runs.ts';
import type { Overlay, UiState } from '../state/ui-state.ts';
import type { Frame } from '../terminal/screen.ts';
import { line, type Part, separator } from '../text/line.ts';
import { agentText } from './agent-summary.ts';

const LABEL_MAX = 28;
/** Lines that the script wrote last, or the end of its result. */
const SAID_MAX = 3;

/** One row for each workflow at work: `wf review-changes 12/40 · Verify · $0.31 · 2 failed`. */
export function workflowLines(state: UiState, width: number, rows: number, style: UiStyle): string[] {
  const working = workflowRuns(state).filter((run) => isWorking(run.state.type));
  return working.slice(-rows).map((run) => {
    const view = workflowView(state, run);
    const where = pauseOf(run.state) === null ? view.now : 'paused';
    const phase = where === null ? [] : [separator(style), clean(where)];
    return line(style, width, [['cyan', '  wf '], clean(run.name), ...figures(view, phase, style)]);
  });
}

/** `12/40 · $0.31 · 2 failed` */
function figures(
  { ended, agents, cost_usd, failed, began, ended_at }: Omit<WorkflowView, 'phases' | 'now'>,
  phase: readonly string[],
  style: UiStyle,
  now?: number,
): Part[] {
  const took = now === undefined || began === null ? '' : duration((ended_at ?? now) - began);
  const dot = separator(style);
  return [
    ` ${ended}/${agents.length}`,
    ...phase,
    ['dim', cost_usd === null ? '' : `${dot}$${cost_usd.toFixed(2)}`],
    ['dim', took === '' ? '' : `${dot}${took}`],
    ['red', failed === 0 ? '' : `${dot}${failed} failed`],
  ];
}

/** A run: its phases, each with its agents, and the lines that its script wrote last, or its result. */
export function workflowPanel(
  state: UiState,
  overlay: Extract<Overlay, { readonly type: 'run' }>,
  width: number,
  height: number,
  style: UiStyle,
): Frame {
  const run = state.agents.get(overlay.run_id);
  if (run === undefined) return { lines: [line(style, width, [' this run is gone'])], cursor: null };
  const view = workflowView(state, run);
  const selected = selectedOf(view, overlay.selected);
  const goes = isWorking(run.state.type) && pauseOf(run.state) === null;
  const told = goes ? '' : `  ${agentText(state, run, style)[1]}`;
  const rows = view.phases.flatMap(({ title, ...phase }) => [
    {
      id: null,
      text: line(style, width, [
        ['bold', ` ${clean(title ?? '(no phase)')}`],
        ...figures(phase, [], style, state.now),
      ]),
    },
    ...phase.agents.map((agent) => ({
      id: agent.id,
      text: agentRow(state, agent, agent.id === selected, width, style),
    })),
  ]);
  const said = (run.state.type === 'completed' ? run.state.result : (run.reply ?? '')).trim().split('\n');
  const script = height < 12 ? [] : said.filter(Boolean).slice(-SAID_MAX);
  const room = Math.max(1, height - 2 - script.length);
  const place = rows.findIndex(({ id }) => id === selected);
  const top = Math.max(0, Math.min(rows.length - room, place - Math.floor(room / 2)));
  const where = rows.length > room ? [`${top + 1}-${top + room} of ${rows.length}`] : [];
  const keys = [
    'Enter open',
    ...where,
    'p pause',
    'x stop',
    'k skip',
    isActive(run) ? 'r retry' : 'r rerun',
    'm write',
    'w save',
    'Esc',
  ].join(separator(style));
  const lines = [
    line(style, width, [
      ['bold', ` ${clean(run.name)}`],
      ...figures(view, [], style, state.now),
      ['dim', told],
    ]),
    ...rows.slice(top, top + room).map(({ text }) => text),
    ...script.map((text) => line(style, width, [['dim', ` ${sign(style, '│')} ${clean(text)}`]])),
    line(style, width, [['dim', ` ${keys}`]]),
  ];
  return { lines: lines.slice(0, height), cursor: null };
}

function agentRow(state: UiState, agent: Agent, selected: boolean, width: number, style: UiStyle): string {
  const most = Math.min(LABEL_MAX, Math.floor(width / 3));
  const name = pad(fit(clean(agent.config.task?.label ?? agent.name), most, style), most);
  const mark = selected ? ` ${style.accessible ? '>' : sign(style, '▸')} ` : '   ';
  return line(style, width, [mark, selected ? ['bold', name] : name, '  ', agentText(state, agent, style)]);
}
