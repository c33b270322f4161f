import { CoppiceError } from '../../records/coppice-error.ts';
import { parseDuration } from '../../records/text/duration.ts';
import { instantText } from './describe-schedule.ts';

const SHORTEST_MS = 1000;
const LONGEST_MS = 366 * 86_400_000;
const EXAMPLE_MS = 600_000;

/** `90s`, `10m`, `1h30m` → milliseconds, from one second to 366 days. Throws `E_INVALID_ARGUMENT`. */
export function parseEvery(text: string, tz: string, now: number): number {
  const every_ms = parseDuration(text.trim());
  if (every_ms !== null && every_ms >= SHORTEST_MS && every_ms <= LONGEST_MS) return every_ms;
  const short = every_ms !== null && every_ms < SHORTEST_MS;
  const wrong = every_ms === null ? 'is no time span' : `is too ${short ? 'short' : 'long'}`;
  throw new CoppiceError('E_INVALID_ARGUMENT', `every "${text}" ${wrong}`, {
    hint: `Write a number with s, m, h or d, from 1s to 366d, also 1h30m. For example "10m": due next ${instantText(now + EXAMPLE_MS, tz)}`,
  });
}
