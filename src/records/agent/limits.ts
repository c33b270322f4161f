/** Limits of one tree (DESIGN.md, Decided). `null` means unlimited. */
export interface Limits {
  /** Deepest allowed agent; the root has depth 0. */
  readonly depth: number;
  /** Children of one agent at work, or with mail to work on, when another is created. */
  readonly children: number;
  /** Agents of the tree at work, or with mail to work on, the root included, when another is created. */
  readonly live: number;
  /** Agents ever created in the tree, the root included. */
  readonly total: number;
  /** Model requests of one agent in one turn. */
  readonly turns: number;
  /** Wall time of one run, milliseconds. */
  readonly run_ms: number;
  /** Input and output tokens of the tree. */
  readonly tokens: number | null;
  readonly cost_usd: number | null;
}

export const DEFAULT_LIMITS: Limits = {
  depth: 3,
  children: 16,
  live: 64,
  total: 256,
  turns: 100,
  run_ms: 30 * 60_000,
  tokens: null,
  cost_usd: null,
};
