import { count } from '../../render/amounts.ts';
import { columnsOf, fit, pad, sign, type UiStyle } from '../../render/style.ts';
import type { FanInRow, FanInView } from '../state/agents/fan-in-view.ts';
import { line, type Part, rule } from '../text/line.ts';
import { WAIT_STATUS_WIDTH, waitStatus } from './transcript/wait-rows.ts';

const INDENT = 2;
const NAME_MIN = 8;

/** A head, a row per agent, a rule below. When they do not fit, the last row says how many more there are; empty below two rows. */
export function statusLayer(view: FanInView, width: number, height: number, style: UiStyle): string[] {
  const head = style.accessible
    ? line(style, width, [`Waiting: ${view.head}`])
    : line(style, width, [['cyan', sign(style, '●')], ` ${view.head}`]);
  if (height < 2) return [];
  const ruled = height >= Math.min(4, view.rows.length + 2) ? rule(style, width) : [];
  const room = height - 1 - ruled.length;
  const shown = view.rows.length <= room ? view.rows : view.rows.slice(0, room - 1);
  const columns = columnsFor(shown, width);
  const rows = shown.map((row) => rowLine(row, columns, width, style));
  const hidden = view.rows.slice(shown.length);
  if (hidden.length > 0) {
    const running = hidden.filter((row) => row.status === 'running').length;
    const more = `  +${hidden.length} more${running > 0 ? `, ${running} running` : ''}`;
    rows.push(line(style, width, [['dim', more]]));
  }
  return [head, ...rows, ...ruled];
}

interface Columns {
  readonly name: number;
  readonly gap: number;
  readonly calls: number;
  readonly tokens: number;
  /** 0: status alone; 1: with calls; 2: with tokens. */
  readonly level: 0 | 1 | 2;
}

function columnsFor(rows: readonly FanInRow[], width: number): Columns {
  const calls = Math.max(2, ...rows.map((row) => String(row.calls).length));
  const tokens = Math.max(2, ...rows.map((row) => count(row.tokens).length));
  const wanted = Math.max(NAME_MIN, ...rows.map((row) => columnsOf(row.name)));
  const told = [0, 3 + calls + ' calls'.length, 3 + calls + ' calls'.length + 2 + tokens + ' tokens'.length];
  const fixed = INDENT + WAIT_STATUS_WIDTH;
  const level =
    ([2, 1, 0] as const).find((one) => fixed + (told[one] ?? 0) + 2 + Math.min(wanted, 16) <= width) ?? 0;
  const room = Math.max(1, width - fixed - (told[level] ?? 0));
  const gap = wanted + 4 <= room ? 4 : 2;
  return { name: Math.max(1, Math.min(wanted, room - gap)), gap, calls, tokens, level };
}

function rowLine(row: FanInRow, columns: Columns, width: number, style: UiStyle): string {
  if (style.accessible) {
    const text = `${row.name}: ${row.status}, ${row.calls} ${row.calls === 1 ? 'call' : 'calls'}, ${count(row.tokens)} tokens`;
    return line(style, width, [text]);
  }
  const name = pad(fit(row.name, columns.name, style), columns.name + columns.gap);
  const parts: Part[] = [' '.repeat(INDENT), name, waitStatus(row.status, style)];
  if (columns.level > 0)
    parts.push(`   ${String(row.calls).padStart(columns.calls)} ${row.calls === 1 ? 'call ' : 'calls'}`);
  if (columns.level > 1) parts.push(`  ${count(row.tokens).padStart(columns.tokens)} tokens`);
  return line(style, width, parts).trimEnd();
}
