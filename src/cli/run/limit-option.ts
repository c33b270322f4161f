import type { Limits } from '../../records/agent/limits.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { parseDuration } from '../../records/text/duration.ts';
import { didYouMean } from '../../render/nearest-name.ts';

const NAMES: Readonly<Record<string, keyof Limits>> = {
  depth: 'depth',
  children: 'children',
  live: 'live',
  total: 'total',
  turns: 'turns',
  run: 'run_ms',
  tokens: 'tokens',
  cost: 'cost_usd',
};

/** `children=100`, `run=2h`, `cost=1.50`, `tokens=none` → limits. Throws `E_USAGE`. */
export function parseLimits(texts: readonly string[]): Partial<Limits> {
  return Object.fromEntries(texts.map(parseLimit)) as Partial<Limits>;
}

function parseLimit(text: string): readonly [keyof Limits, number | null] {
  const [name = '', value = ''] = text.split('=', 2);
  const key = Object.hasOwn(NAMES, name) ? NAMES[name] : undefined;
  if (key === undefined) {
    throw new CoppiceError('E_USAGE', `no limit called "${name}"`, {
      hint: `${didYouMean(name, Object.keys(NAMES))}Write one of ${Object.keys(NAMES).join(', ')}, for example --limit children=100`,
    });
  }
  if (value === 'none' && (key === 'tokens' || key === 'cost_usd')) return [key, null];
  const number = key === 'run_ms' ? milliseconds(value) : Number(value);
  const whole = key === 'cost_usd' || Number.isInteger(number);
  if (value === '' || !Number.isFinite(number) || number < 0 || !whole) {
    throw new CoppiceError('E_USAGE', `"${value}" is no value for the limit ${name}`, {
      hint: key === 'run_ms' ? 'Write a time such as 90s, 30m or 2h' : 'Write a number',
    });
  }
  return [key, number];
}

/** A bare number counts seconds. */
function milliseconds(text: string): number {
  return parseDuration(/^[\d.]+$/.test(text) ? `${text}s` : text) ?? Number.NaN;
}
