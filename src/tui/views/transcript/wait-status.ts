import type { WaitStatus } from '../../../records/conversation/wait.ts';
import { type Paint, sign } from '../../../render/style.ts';
import type { Look } from '../../look.ts';
import type { Part } from '../../text/line.ts';

const LOOKS = {
  running: { symbol: '◐', paint: 'cyan' },
  received: { symbol: '✓', paint: 'green' },
  idle: { symbol: '○', paint: 'dim' },
  dead: { symbol: '✗', paint: 'red' },
} as const satisfies Record<WaitStatus, { symbol: Parameters<typeof sign>[1]; paint: Paint }>;

/** Columns of the longest, `✓ received`. */
export const WAIT_STATUS_WIDTH = 10;

/** Symbol and word, as seed 1 writes them; the word alone where lines are read aloud. */
export function waitStatus(status: WaitStatus, look: Look): Part {
  const { symbol, paint } = LOOKS[status];
  const text = look.accessible ? status : `${sign(look, symbol)} ${status}`;
  return [paint, text.padEnd(WAIT_STATUS_WIDTH)];
}
