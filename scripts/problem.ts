/** One place that breaks a house rule. */
export interface Problem {
  /** Absolute path. */
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
  /** What is wrong, and what to do. */
  readonly message: string;
}
