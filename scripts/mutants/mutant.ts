import type { Guard } from './guards/guard.ts';

/** One small change of the program. */
export interface Mutant {
  /** Relative to the root of the repository. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** Where the piece stands that is replaced, in characters. */
  readonly start: number;
  readonly end: number;
  readonly before: string;
  readonly after: string;
  /** The change takes out this guard. */
  readonly guard?: Guard;
}

/** The source with the one change. */
export function mutated(source: string, { start, end, after }: Mutant): string {
  return source.slice(0, start) + after + source.slice(end);
}

/** The change in one line. */
export function told({ file, line, before, after, guard }: Mutant): string {
  if (guard !== undefined)
    return `${guard.name.padEnd(26)} ${`${file}:${line}`.padEnd(44)} protects ${guard.protects}`;
  const short = (text: string) => {
    const flat = text.replaceAll(/\s+/g, ' ');
    return flat.length > 70 ? `${flat.slice(0, 67)}…` : flat;
  };
  return `${file}:${line}  ${short(before)}  →  ${after === '' ? '(nothing)' : short(after)}`;
}
