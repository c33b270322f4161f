import { distance } from 'fastest-levenshtein';
import { CoppiceError, orElse } from '../../records/coppice-error.ts';
import type { Schedule } from '../../records/run/cron-job.ts';
import { readDuration } from '../../records/text/parse-duration.ts';
import { instantText } from './describe-schedule.ts';
import { parseAt } from './parse-at.ts';
import { parseCron } from './parse-cron.ts';

const EVERY_MIN_MS = 1000;
const EVERY_MAX_MS = 366 * 86_400_000;
const EXAMPLE_MS = 600_000;
/** Maximum characters of one value. */
const LONGEST = 500;

/** A schedule as a person or a model writes it: exactly one of `cron`, `every` and `at`. */
export interface ScheduleInput {
  /** Five fields, six with seconds first, or `@daily` and the like. */
  readonly cron?: string | undefined;
  /** Time zone of `cron` or `at`; default: `default_tz`. */
  readonly tz?: string | undefined;
  /** `90s`, `10m`, `1h30m`, `2h`, `1d`; the first instant comes after one interval. */
  readonly every?: string | undefined;
  /** ISO 8601 with or without an offset, `YYYY-MM-DD HH:MM`, `HH:MM`, or `+5m`. */
  readonly at?: string | undefined;
}

export interface ParseContext {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly default_tz: string;
  /** Called with a sentence about a wall time that does not exist or occurs twice. */
  readonly note?: (text: string) => void;
}

/**
 * Parses a schedule. Throws a `CoppiceError` whose hint gives a valid example: `E_USAGE` for a wrong combination of
 * options, `E_INVALID_ARGUMENT` for an invalid value, an expression that never matches, or a past time.
 */
export function parseSchedule({
  cron,
  tz,
  every,
  at,
  now,
  default_tz,
  note,
}: ScheduleInput & ParseContext): Schedule {
  for (const [name, value = ''] of Object.entries({ cron, tz, every, at })) {
    if (value.length <= LONGEST) continue;
    throw new CoppiceError('E_INVALID_ARGUMENT', `${name} has ${value.length} characters`, {
      hint: `At most ${LONGEST} are allowed, for example cron "0 9 * * 1-5"`,
    });
  }
  const kinds = Object.entries({ cron, every, at }).filter(([, value]) => value !== undefined);
  const given = kinds.map(([name]) => name);
  if (given.length !== 1) {
    const found = given.length === 0 ? 'none is given' : `${given.join(' and ')} are given`;
    throw new CoppiceError('E_USAGE', `a schedule needs exactly one of cron, every and at: ${found}`, {
      hint: 'Choose one: cron "0 9 * * 1-5", every 10m, or at "2030-01-31 09:00"',
    });
  }
  if (every !== undefined && tz !== undefined) {
    throw new CoppiceError('E_USAGE', 'a time zone needs cron or at: every counts elapsed time', {
      hint: `Leave out tz, or write a cron expression such as "*/10 * * * *" in ${tz}`,
    });
  }
  const zone = parseZone(tz ?? default_tz);
  if (cron !== undefined) return { type: 'cron', expression: parseCron(cron, zone, now), tz: zone };
  if (every !== undefined) return { type: 'every', every_ms: parseEvery(every, zone, now), anchor: now };
  return { type: 'at', at: parseAt(at as string, zone, now, note) };
}

/** `90s`, `10m`, `1h30m` → milliseconds, from one second to 366 days. Throws `E_INVALID_ARGUMENT`. */
function parseEvery(text: string, tz: string, now: number): number {
  const every_ms = readDuration(text);
  if (every_ms !== null && every_ms >= EVERY_MIN_MS && every_ms <= EVERY_MAX_MS) return every_ms;
  const short = every_ms !== null && every_ms < EVERY_MIN_MS;
  const wrong = every_ms === null ? 'is not a valid time span' : `is too ${short ? 'short' : 'long'}`;
  throw new CoppiceError('E_INVALID_ARGUMENT', `every "${text}" ${wrong}`, {
    hint: `Write a number with s, m, h or d, from 1s to 366d, also 1h30m. For example "10m": due next ${instantText(now + EXAMPLE_MS, tz)}`,
  });
}

const SUGGESTED = 3;
const EXAMPLES = 'Europe/Berlin, America/New_York or UTC';

/** The IANA zone that `text` names, in its canonical case. Throws `E_INVALID_ARGUMENT` with the nearest names. */
function parseZone(text: string): string {
  const name = text.trim();
  const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')];
  const usual = zones.find((zone) => zone.toLowerCase() === name.toLowerCase());
  if (usual !== undefined) return usual;
  // Older names, such as Asia/Calcutta, are valid although they are not listed.
  const format = orElse(() => new Intl.DateTimeFormat('en-US', { timeZone: name }), null);
  if (/^[a-z]/i.test(name) && format !== null) return name;
  const near = nearest(name, zones);
  const suggestion = near.length === 0 ? '' : `Did you mean ${near.join(' or ')}? `;
  throw new CoppiceError('E_INVALID_ARGUMENT', `no time zone is called "${text}"`, {
    hint: `${suggestion}Write an IANA name, for example ${near[0] ?? EXAMPLES}`,
  });
}

/** The nearest names, comparing the whole name and its last part, for people who write only the city. */
function nearest(name: string, zones: readonly string[]): string[] {
  const wanted = plain(name);
  const limit = Math.max(1, Math.floor(wanted.length / 3));
  return zones
    .map((zone) => {
      const parts = [zone, zone.split('/').at(-1) as string];
      return { zone, far: Math.min(...parts.map((part) => distance(plain(part), wanted))) };
    })
    .filter(({ far }) => far <= limit)
    .sort((a, b) => a.far - b.far)
    .slice(0, SUGGESTED)
    .map(({ zone }) => zone);
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}
