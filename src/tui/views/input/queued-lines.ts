import { isWorking } from '../../../records/agent/state.ts';
import { counted } from '../../../records/text/text.ts';
import { clean } from '../../../render/clean.ts';
import { fit, sign, type UiStyle } from '../../../render/style.ts';
import { type AgentPane, paneOf, type UiState } from '../../state/ui-state.ts';
import { line } from '../../text/line.ts';

const ROWS_MAX = 4;

/** Messages of the person that the agent in view, which is at work, has not read yet, oldest first. */
export function queuedInView(state: UiState): AgentPane['queued'] {
  const agent = state.view === null ? undefined : state.agents.get(state.view);
  return agent !== undefined && isWorking(agent.state.type) ? paneOf(state, agent.id).queued : [];
}

export function queuedLines(
  state: UiState,
  width: number,
  rows: number,
  style: UiStyle,
  drafting = false,
): string[] {
  const queued = queuedInView(state);
  const most = Math.min(ROWS_MAX, rows);
  if (queued.length === 0 || most < 1) return [];
  const shown = queued.length <= most ? queued : queued.slice(0, most - 1);
  const lines = shown.map(({ id, text, attached }) => {
    const [first = '', ...more] = text.trim().split('\n');
    const behind = more.length === 0 ? '' : ` +${counted(more.length, 'line')}`;
    const rest = attached === 0 ? behind : `${behind} +${attached} attached`;
    const before = style.accessible ? 'queued: ' : '> ';
    const edits = !drafting && id === queued.at(-1)?.id ? `, ${sign(style, '↑')} edits it` : '';
    const mark = style.accessible ? '' : ` ${sign(style, '·')} queued${edits}`;
    const room = Math.max(1, width - before.length - mark.length - rest.length);
    return line(style, width, [['dim', `${before}${fit(clean(first), room, style)}${rest}${mark}`]]);
  });
  if (shown.length === queued.length) return lines;
  return [...lines, line(style, width, [['dim', `  +${queued.length - shown.length} more queued`]])];
}
