import type { Guard } from './guards/guard.ts';

/** One small change of the program. */
export interface Mutant {
  /** Relative to the root of the repository. */
  readonly file: string;
  /** Line number, from 1. */
  readonly line: number;
  /** Range of the replaced text, in characters; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
  readonly before: string;
  readonly after: string;
  /** Guard that the change removes, if any. */
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
