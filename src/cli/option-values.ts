import { InvalidArgumentError } from 'commander';

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
