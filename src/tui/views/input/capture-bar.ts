import { clean } from '../../../render/clean.ts';
import { sign, type UiStyle } from '../../../render/style.ts';
import { paneOf, type UiState } from '../../state/ui-state.ts';
import { columns, line, type Part } from '../../text/line.ts';

/** Says that a capture is open and that nothing of it is sent; null without one. */
export function captureBar(state: UiState, width: number, style: UiStyle): string | null {
  const agent = state.view === null ? undefined : state.agents.get(state.view);
  if (agent === undefined) return null;
  const { capture } = paneOf(state, agent.id);
  if (capture === null) return null;
  const count = capture.length === 1 ? '1 line' : `${capture.length} lines`;
  const dot = sign(style, '·');
  if (style.accessible)
    return line(style, width, [
      `Capture, ${count}, not sent to ${clean(agent.name)}. /fork or /cancel; // for /.`,
    ]);
  const bar = sign(style, '━');
  const parts: Part[] = [
    [
      'magenta',
      `${bar.repeat(2)} CAPTURE ${dot} ${count} ${dot} not sent to ${clean(agent.name)} ${bar.repeat(2)} `,
    ],
    `/fork ${dot} /cancel ${dot} // for /`,
  ];
  const rest = width - columns(parts) - 1;
  return line(style, width, rest > 0 ? [...parts, ['magenta', ` ${bar.repeat(rest)}`]] : parts);
}
