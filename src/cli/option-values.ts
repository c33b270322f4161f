import { InvalidArgumentError } from 'commander';
import { parseDuration } from '../core/duration.ts';

export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

export function seconds(value: string): number {
  const number = Number(value);
  if (!Number.isFinite(number) || number < 0)
    throw new InvalidArgumentError('a number of seconds, 0 or more');
  return number;
}

export function whole(value: string): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 0) throw new InvalidArgumentError('a whole number, 0 or more');
  return number;
}

export function countOf(value: string): number {
  if (whole(value) === 0) throw new InvalidArgumentError('a whole number, 1 or more');
  return whole(value);
}

/** Milliseconds. */
export function timeSpan(value: string): number {
  const ms = parseDuration(value);
  if (ms === null) throw new InvalidArgumentError('a span of time, e.g. 90s, 12h or 30d');
  return ms;
}
