import { deedsHead } from '../../../records/agent/deeds-line.ts';
import { resultLine } from '../../../records/conversation/child-text.ts';
import {
  isPerson,
  type WaitCut,
  type WaitResult,
  type WaitRow,
  type WaitStatus,
} from '../../../records/conversation/facts/wait-row.ts';
import { clean } from '../../../render/clean.ts';
import { statePaint, stateSign } from '../../../render/state-mark.ts';
import { columnsOf, fit, pad, sign, type UiStyle } from '../../../render/style.ts';
import { line, type Part } from '../../text/line.ts';

const NAME_MAX = 24;

/** Rows from which on those of agents that rest well are left out, the last ones first. */
export const WAIT_ROWS_MAX = 20;

/** The result of a wait, a row per agent with what it said; at most `most` of those in which nothing failed. */
export function waitRows(
  { rows: all, cut }: WaitResult,
  width: number,
  style: UiStyle,
  most = all.length,
): string[] {
  const well = all.filter(
    ({ status, error }) => error === undefined && (status === 'received' || status === 'idle'),
  );
  const left = new Set(all.length > most ? well.slice(most - 1 - all.length) : []);
  const rows = all.filter((row) => !left.has(row));
  const nameOf = (row: WaitRow) => (isPerson(row) ? 'you' : clean(row.name));
  const names = rows.map((row) => fit(nameOf(row), Math.min(NAME_MAX, Math.floor(width / 3)), style));
  const longest = Math.max(0, ...names.map((name) => columnsOf(name)));
  const lines = rows.map((row, index) => {
    const name = names[index] ?? '';
    if (style.accessible) return line(style, width, [`${name}: ${row.status}${waitRowText(row, ', ')}`]);
    return line(style, width, [
      `  ${pad(name, longest)}    `,
      waitStatus(row.status, style),
      ['dim', waitRowText(row, '  ')],
    ]).trimEnd();
  });
  if (left.size > 0) lines.push(line(style, width, [['dim', `  ${sign(style, '…')} +${left.size} agents`]]));
  if (cut === null) return lines;
  return [
    ...lines,
    line(style, width, [['yellow', `  ${rows.length === 0 ? 'nothing came, ' : ''}${cutWord(cut)}`]]),
  ];
}

/** Why a wait ended early. */
export function cutWord(cut: WaitCut): string {
  return cut === 'timeout' ? 'timed out' : 'interrupted';
}

/** Leaves out the person's text, which follows as a message of theirs. */
function waitRowText(row: WaitRow, before: string): string {
  if (isPerson(row)) return '';
  const { message, last_reply, error, limit, did } = row;
  const text = clean(message ?? error ?? resultLine(last_reply ?? '', limit)).trim();
  const all = [...(did === undefined ? [] : [`(${clean(deedsHead(did))})`]), ...(text === '' ? [] : [text])];
  return all.length === 0 ? '' : `${before}${all.join(' ')}`;
}

/** Width of the longest status, `✓ received`. */
export const WAIT_STATUS_WIDTH = 10;

/** Sign and word; in accessible mode the word alone. */
export function waitStatus(status: WaitStatus | 'waiting', style: UiStyle): Part {
  const [state, word] =
    status === 'waits_for_you' ? (['waiting_for_you', 'asks'] as const) : [status, status];
  const text = style.accessible ? word : `${stateSign(state, style)} ${word}`;
  return [statePaint(state), text.padEnd(WAIT_STATUS_WIDTH)];
}
