/** One guard of the program, and how it is taken out. */
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
  /** Filters of `npm test` that find the test files to run first. */
  readonly tests: readonly string[];
}
