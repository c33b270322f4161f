import { type Command, InvalidArgumentError } from 'commander';
import { parseDuration, TIMEOUT_SECONDS_MAX } from '../../records/text/parse-duration.ts';

const ROWS_MAX = 1_000;

/** Parsers of option values for commander: each throws an error that says what is expected instead. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

export function seconds(value: string): number {
  const expected = `a number of seconds, 0 to ${TIMEOUT_SECONDS_MAX}`;
  return numberOf(value, /^\d+(\.\d+)?$/, 0, expected, TIMEOUT_SECONDS_MAX);
}

export function whole(value: string): number {
  return numberOf(value, /^\d+$/, 0, 'a whole number, 0 or more');
}

export function countOf(value: string): number {
  return numberOf(value, /^\d+$/, 1, 'a whole number, 1 or more');
}

/** Parses a number of rows; the maximum is what the HTTP API answers with at once. */
export function rowCount(value: string): number {
  return numberOf(value, /^\d+$/, 1, `a whole number, 1 to ${ROWS_MAX}`, ROWS_MAX);
}

/** Checks the form first, because `Number('')` is 0 and a variable that is not set must not count as 0. */
function numberOf(value: string, form: RegExp, least: number, expected: string, most = Infinity): number {
  const number = Number(value);
  if (!form.test(value.trim()) || !Number.isFinite(number) || number < least || number > most)
    throw new InvalidArgumentError(expected);
  return number;
}

/** Parses a time span to milliseconds. */
export function timeSpan(value: string): number {
  const ms = parseDuration(value);
  if (ms === null) throw new InvalidArgumentError('a span of time, e.g. 90s, 12h or 30d');
  return ms;
}

/** Parses a day in UTC, or a time span before now, to milliseconds since the epoch. */
export function sinceDay(value: string): number {
  const ago = parseDuration(value);
  const at =
    ago === null && /^\d{4}-\d\d-\d\d$/.test(value) ? Date.parse(value) : Date.now() - (ago ?? Number.NaN);
  if (!Number.isFinite(at))
    throw new InvalidArgumentError('a day such as 2026-01-31, or a span of time such as 7d');
  return at;
}

/** The options `--allow` and `--deny`. */
export function ruleOptions(command: Command): Command {
  return command
    .option(
      '--allow <rule>',
      'allow a tool or a pattern, e.g. bash or "bash:git *" (repeatable)',
      collect,
      [],
    )
    .option('--deny <rule>', 'deny a tool or a pattern (repeatable)', collect, []);
}
