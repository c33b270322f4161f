/** Limits of one tree. `null` means unlimited. */
export interface Limits {
  /** Maximum depth of an agent; the root has depth 0. */
  readonly depth: number;
  /** Maximum children of one agent that are working or have unread mail when another one is created. */
  readonly children: number;
  /** Maximum agents of the tree, root included, that are working or have unread mail when another one is created. */
  readonly live: number;
  /** Maximum agents ever created in the tree, root included. */
  readonly total: number;
  /** Maximum model requests of one agent in one turn. */
  readonly turns: number;
  /** Maximum wall time of one run, milliseconds. */
  readonly run_ms: number;
  /** Maximum input plus output tokens of the tree. */
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
