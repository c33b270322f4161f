import { endOfText } from '../../../records/text/cut-text.ts';
import { sign, type UiStyle } from '../../../render/style.ts';
import type { AgentPane } from '../../state/ui-state.ts';
import { line } from '../../text/line.ts';
import type { MarkdownTail } from '../../text/markdown.ts';
import { type Batches, wrap } from '../../text/wrap.ts';
import type { AgentNames } from './agent-names.ts';
import { entryBelow, finishedEntries } from './entry-view.ts';

export interface StreamingOptions {
  readonly width: number;
  /** Maximum rows; the newest are shown. */
  readonly height: number;
  readonly style: UiStyle;
  readonly names: AgentNames;
  /** Calls that the status layer shows. */
  readonly hidden_calls: readonly string[];
  /** Caches the rendered lines of the streamed answer. */
  readonly text: MarkdownTail;
  /** Number of characters of the streamed answer that are in the scrollback. */
  readonly printed?: number;
}

const OUTPUT_ROWS = 3;
const THOUGHT_ROWS = 2;
/** Maximum characters read of the newest reasoning or output. */
const TAIL = 2_000;

/** Unfinished entries: running calls with their newest output, and the streamed answer. */
export function streamingView(pane: AgentPane, settings: StreamingOptions): string[] {
  const { width, height, style, names } = settings;
  if (height <= 0) return [];
  const lines: string[] = [];
  const open = pane.entries.slice(finishedEntries(pane.entries));
  open.forEach((entry, index) => {
    if (entry.type === 'call' && entry.result === null && settings.hidden_calls.includes(entry.call_id))
      return;
    // Only the newest rows are shown: older ones need not be rendered.
    if (open.length - index > height) return;
    lines.push(...firstRows(entryBelow(entry, open[index - 1] ?? null, width, style, names), height));
    if (entry.type !== 'call' || entry.result !== null) return;
    const output = pane.output.get(entry.call_id);
    if (output !== undefined) lines.push(...tail(output, OUTPUT_ROWS, width, style));
  });
  if (pane.streaming !== '')
    lines.push(...settings.text.lines(pane.streaming, width, style, height, settings.printed));
  else if (pane.reasoning.trim() !== '') lines.push(...tail(pane.reasoning, THOUGHT_ROWS, width, style));
  return lines.slice(-height);
}

/** Renders no more batches than the rows need. */
function firstRows(batches: Batches, rows: number): string[] {
  const lines: string[] = [];
  for (const batch of batches) {
    lines.push(...batch);
    if (lines.length >= rows) break;
  }
  return lines.slice(0, rows);
}

function tail(text: string, rows: number, width: number, style: UiStyle): string[] {
  const newest = wrap(endOfText(text.trimEnd(), TAIL), width - 2, style).slice(-rows);
  const before = style.accessible ? '' : `${sign(style, '┆')} `;
  return newest.map((row) => line(style, width, [['dim', `${before}${row}`]]));
}
