import { sign, type UiStyle } from '../../../render/style.ts';
import type { AgentPane } from '../../state/ui-state.ts';
import { line } from '../../text/line.ts';
import type { MarkdownTail } from '../../text/markdown.ts';
import { wrap } from '../../text/wrap.ts';
import type { AgentNames } from './agent-names.ts';
import { entryBelow, finishedEntries } from './entry-view.ts';

export interface StreamingOptions {
  readonly width: number;
  /** Rows at most: the newest are shown. */
  readonly height: number;
  readonly style: UiStyle;
  readonly names: AgentNames;
  /** Calls that the status layer shows. */
  readonly elsewhere: readonly string[];
  /** Keeps what is rendered of the text that grows. */
  readonly text: MarkdownTail;
}

const OUTPUT_ROWS = 3;
const THOUGHT_ROWS = 2;
/** How much of the newest thought or output is looked at. */
const TAIL = 2_000;

/** What is not finished yet: calls that run, with the newest of what they print, and what the model is just saying. */
export function streamingView(pane: AgentPane, settings: StreamingOptions): string[] {
  const { width, height, style, names } = settings;
  if (height <= 0) return [];
  const lines: string[] = [];
  const open = pane.entries.slice(finishedEntries(pane.entries));
  open.forEach((entry, index) => {
    if (entry.type === 'call' && entry.result === null && settings.elsewhere.includes(entry.call_id)) return;
    // Only the newest rows are shown: a long list is not drawn whole.
    if (open.length - index > height) return;
    lines.push(...firstRows(entryBelow(entry, open[index - 1] ?? null, width, style, names), height));
    if (entry.type !== 'call' || entry.result !== null) return;
    const output = pane.output.get(entry.call_id);
    if (output !== undefined) lines.push(...tail(output, OUTPUT_ROWS, width, style));
  });
  if (pane.streaming === '') lines.push(...thought(pane.reasoning, width, style));
  else lines.push(...settings.text.lines(pane.streaming, width, style, height));
  return lines.slice(-height);
}

/** The beginning of what may be very long. */
function firstRows(batches: Iterable<readonly string[]>, rows: number): string[] {
  const lines: string[] = [];
  for (const batch of batches) {
    lines.push(...batch);
    if (lines.length >= rows) break;
  }
  return lines.slice(0, rows);
}

function thought(text: string, width: number, style: UiStyle): string[] {
  if (text.trim() === '') return [];
  return tail(text, THOUGHT_ROWS, width, style);
}

function tail(text: string, rows: number, width: number, style: UiStyle): string[] {
  const newest = wrap(text.trimEnd().slice(-TAIL), width - 2, style).slice(-rows);
  const before = style.accessible ? '' : `${sign(style, '┆')} `;
  return newest.map((row) => line(style, width, [['dim', `${before}${row}`]]));
}
