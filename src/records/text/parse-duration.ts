/** Upper bound of timeouts in seconds: Node's timers overflow soon beyond it. */
export const TIMEOUT_SECONDS_MAX = 2_000_000;
/** Units in milliseconds, in the order in which they are written. */
const UNITS = { w: 604_800_000, d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const;
const NUMBER = String.raw`(\d+(?:\.\d+)?)`;
const PARTS = new RegExp(
  `^${Object.keys(UNITS)
    .map((unit) => `(?:${NUMBER}${unit})?`)
    .join('')}$`,
);

/** Converts seconds that may have a fraction to whole milliseconds, at least one: the ledger stores whole numbers. */
export function wholeMilliseconds(seconds: number): number {
  return Math.max(1, Math.round(seconds * 1_000));
}

/** Parses `90s`, `10m`, `1h30m`, `1.5h`, `2d`, `1w`, `250ms` to milliseconds; larger units first, each at most once. Null if the text is not a duration. */
export function parseDuration(text: string): number | null {
  const numbers = text === '' ? null : PARTS.exec(text);
  if (numbers === null) return null;
  const total = Object.values(UNITS).reduce(
    (sum, unit, index) => sum + unit * Number(numbers[index + 1] ?? 0),
    0,
  );
  return Number.isFinite(total) ? Math.round(total) : null;
}

/** As `parseDuration`, also in words: `2 minutes`, `an hour`, `1 hour and 30 min`. */
export function readDuration(text: string): number | null {
  const words = text
    .trim()
    .toLowerCase()
    .replace(/^an? /, '1 ')
    .replaceAll(/,?\s+and\s+/g, ' ');
  const joined = words.replaceAll(/\s+(?=[a-z])|(?<=[a-z])[\s,]+/g, '');
  const units = /([wdhms])(?:(?:ee)?ks?|ays?|(?:ou)?rs?|in(?:ute)?s?|ec(?:ond)?s?)(?![a-z])/g;
  return parseDuration(joined.replaceAll(units, '$1'));
}

const SLEEP = /^\s*sleep\s+(\d*\.?\d+)([smhd]?)[ \t]*(?:$|(?:;|&&|\n)\s*([\s\S]*)$)/;

/** The time that a shell command sleeps before all else, and what stands behind that; null if it begins otherwise. */
export function leadingSleep(shell: string): { readonly ms: number; readonly behind: string } | null {
  const [sleeps, time, unit, behind = ''] = SLEEP.exec(shell) ?? [];
  // The shell reads `.5` as well.
  return sleeps === undefined ? null : { ms: parseDuration(`0${time}${unit || 's'}`) ?? 0, behind };
}

/** Formats whole milliseconds so that `parseDuration` can read them: `1h30m`, `250ms`, `0s`. */
export function durationText(ms: number): string {
  let rest = ms;
  const [, ...units] = Object.entries(UNITS);
  const parts = units.map(([unit, size]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return count === 0 ? '' : `${count}${unit}`;
  });
  return parts.join('') || '0s';
}
