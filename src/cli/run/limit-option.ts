import { isLimit, LIMIT_BOUNDS, type Limits } from '../../records/agent/limits.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { parseDuration } from '../../records/text/parse-duration.ts';
import { nameHint } from '../../render/nearest-name.ts';

/** Limits by their names without units: `run`, `cost`. */
const NAMES = new Map(
  (Object.keys(LIMIT_BOUNDS) as (keyof Limits)[]).map((key) => [key.replace(/_.*/, ''), key]),
);

/** Parses limits such as `children=100`, `run=2h`, `cost=1.50`, `tokens=none`. Throws `E_USAGE`. */
export function parseLimits(texts: readonly string[]): Partial<Limits> {
  return Object.fromEntries(texts.map(parseLimit)) as Partial<Limits>;
}

function parseLimit(text: string): readonly [keyof Limits, number | null] {
  const [name = '', value = ''] = text.split('=', 2);
  const key = NAMES.get(name);
  if (key === undefined) {
    throw new CoppiceError('E_USAGE', `no limit called "${name}"`, {
      hint: `${nameHint(name, [...NAMES.keys()], 'Limits')}, for example --limit children=100`,
    });
  }
  const limit = value === 'none' ? null : key === 'run_ms' ? milliseconds(value) : Number(value);
  if (value === '' || !isLimit(key, limit)) {
    const least = `Write a number of at least ${LIMIT_BOUNDS[key].least}`;
    throw new CoppiceError('E_USAGE', `"${value}" is not a valid value for the limit ${name}`, {
      hint: key === 'run_ms' ? 'Write a time such as 90s, 30m or 2h' : least,
    });
  }
  return [key, limit];
}

/** Parses a duration; a bare number counts seconds. NaN if it is malformed. */
function milliseconds(text: string): number {
  return parseDuration(/^[\d.]+$/.test(text) ? `${text}s` : text) ?? Number.NaN;
}
