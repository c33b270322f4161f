import type { Mutant } from '../mutant.ts';

/** A mutant with a name: one guard of the program, and how it is taken out. */
export interface Guard {
  /** Kebab-case; unique. */
  readonly name: string;
  /** What goes wrong without it, in words that follow "protects". */
  readonly protects: string;
  /** Relative to the root of the repository. */
  readonly file: string;
  /** The piece of source that is the guard: it stands in the file exactly once, to the letter. */
  readonly guard: string;
  /** What stands there instead: valid source with valid types, only without the guard. */
  readonly without: string;
  /** Filters of `npm test` that find the test files of which one must fail. */
  readonly tests: readonly string[];
}

/** The change that takes a guard out. Throws when its piece of source is not in the file exactly once: then the list is out of date. */
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
