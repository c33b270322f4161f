import type { Mutant } from '../mutant.ts';

/** A named mutant: one guard of the program, and how it is removed. */
export interface Guard {
  /** Kebab-case; unique. */
  readonly name: string;
  /** What goes wrong without it, in words that follow "protects". */
  readonly protects: string;
  /** Relative to the root of the repository. */
  readonly file: string;
  /** Source text of the guard; occurs verbatim and exactly once in the file. */
  readonly guard: string;
  /** Replacement: valid source with valid types, only without the guard. */
  readonly without: string;
  /** Filters of `npm test` for the test files, at least one of which must fail. */
  readonly tests: readonly string[];
}

/** Mutant that removes a guard. Throws if its source text does not occur exactly once in the file, which means that the list is stale. */
export function withoutGuard(source: string, guard: Guard): Mutant {
  const { name, file, guard: before, without: after } = guard;
  const pieces = source.split(before);
  if (pieces.length === 1)
    throw new Error(
      `guard not found: ${name}: ${file} no longer contains its piece of source. If the guard has moved, follow it in scripts/mutants/guards; if it is gone, that is the bug`,
    );
  if (pieces.length > 2)
    throw new Error(
      `guard not clear: ${name}: its piece of source stands in ${file} ${pieces.length - 1} times; name more of it in scripts/mutants/guards`,
    );
  const start = (pieces[0] as string).length;
  const line = (pieces[0] as string).split('\n').length;
  return { file, line, start, end: start + before.length, before, after, guard };
}
