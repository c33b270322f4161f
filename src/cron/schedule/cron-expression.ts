import { Cron, CronPattern } from 'croner';
import { CoppiceError } from '../../records/coppice-error.ts';
import { keepNewest } from '../../records/kept-in.ts';

/** The library's mode for five fields, or six with seconds first. */
export const CRON_MODE = '5-or-6-parts';

/** Maximum cached expressions; each takes 160 kB, most of it the library's list of years. */
const CACHED_MAX = 64;

export interface CronExpression {
  /** Whether the hours of the expression are explicit (`2`, `1-5`, `2,14`), without a wildcard or a step (`*`, `1-5/2`). */
  readonly fixed: boolean;
  /** Computes in wall times, treated as UTC. */
  readonly wall: Cron;
  /** Computes in instants. */
  readonly zoned: Cron;
}

const read = new Map<string, CronExpression>();

/** Parses an expression, with a cache. Throws `E_INVALID_ARGUMENT` for an invalid expression or zone. */
export function cronExpression(expression: string, tz: string): CronExpression {
  const key = `${tz} ${expression}`;
  const known = read.get(key);
  if (known !== undefined) return known;
  const made = readExpression(expression, tz);
  keepNewest(read, key, made, CACHED_MAX);
  return made;
}

function readExpression(expression: string, tz: string): CronExpression {
  try {
    const { pattern } = new CronPattern(expression, undefined, { mode: CRON_MODE });
    const [hour = ''] = pattern.trim().split(/\s+/).slice(-4);
    new Intl.DateTimeFormat('en-US', { timeZone: tz });
    return {
      fixed: !/[*?/]/.test(hour),
      wall: new Cron(pattern, { mode: CRON_MODE, utcOffset: 0 }),
      zoned: new Cron(pattern, { mode: CRON_MODE, timezone: tz }),
    };
  } catch (cause) {
    throw new CoppiceError('E_INVALID_ARGUMENT', `"${expression}" in "${tz}" is not a valid schedule`, {
      hint: 'Write for example "0 9 * * 1-5" in Europe/Berlin',
      cause,
    });
  }
}
