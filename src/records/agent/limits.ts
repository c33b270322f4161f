import type { AgentState } from './state.ts';

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
  /** Maximum tokens of the tree: output plus input that was not read from a cache. */
  readonly tokens: number | null;
  readonly cost_usd: number | null;
}

/** The limits of a tree as the ledger keeps them. */
export interface TreeLimits extends Limits {
  /** Set if nobody limited tokens or cost, so that the defaults of `DEFAULT_SPENDING_LIMITS` apply. */
  readonly usual?: true;
  /** Tokens of free models (`Model.is_free`), which these defaults do not count. */
  readonly free?: number;
}

/** Default limits for a tree that nobody limited: when one is reached, the tree stops and asks. Models without a known price are limited by tokens only. */
export const DEFAULT_SPENDING_LIMITS = { tokens: 2_000_000, cost_usd: 5, usual: true } as const;

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

export function newTreeLimits(said: Limits, given: Partial<Limits> = {}): TreeLimits {
  return given.tokens === undefined && given.cost_usd === undefined
    ? { ...said, ...DEFAULT_SPENDING_LIMITS }
    : said;
}

interface LimitBound {
  readonly least: number;
  readonly whole: boolean;
  /** Whether `null` (no limit) is accepted. */
  readonly unlimited: boolean;
}

const COUNT: LimitBound = { least: 0, whole: true, unlimited: false };
/** At least 1, because the root counts. */
const ROOT: LimitBound = { ...COUNT, least: 1 };

/** Valid values of each limit, for the configuration, the library and the command line. */
export const LIMIT_BOUNDS: Readonly<Record<keyof Limits, LimitBound>> = {
  depth: COUNT,
  children: COUNT,
  live: ROOT,
  total: ROOT,
  turns: COUNT,
  run_ms: COUNT,
  tokens: { ...COUNT, unlimited: true },
  cost_usd: { least: 0, whole: false, unlimited: true },
};

export function isLimit(name: keyof Limits, value: number | null): boolean {
  const { least, whole, unlimited } = LIMIT_BOUNDS[name];
  if (value === null) return unlimited;
  return Number.isFinite(value) && value >= least && (!whole || Number.isInteger(value));
}

const NAMING = [
  ['tokens', /limit "tokens" of the tree reached: (?<used>[\d,]+) of (?<was>[\d,]+)/],
  ['cost_usd', /limit "cost" of the tree reached: \$(?<used>[\d.]+) of \$(?<was>[\d.]+)/],
  ['turns', /(?<was>\d+) model requests? in one turn/],
  ['run_ms', /run time of (?<was>[\d.]+) s/],
  ...(['depth', 'children', 'live', 'total'] as const).map(
    (name) =>
      [
        name,
        new RegExp(`limit "${name}" reached: \\d+ of (?<was>\\d+)(?: and (?<used>\\d+) more)?`),
      ] as const,
  ),
] as const;

/** The limit of the tree that a text says was reached, and (`raised`) twice what was used or asked for, as an option: `tokens=18000`; null for budgets of agents. */
export function namedLimit(text: string) {
  for (const [limit, pattern] of NAMING) {
    const { was, used = was } = pattern.exec(text)?.groups ?? {};
    if (was === undefined) continue;
    const [before, most] = [was, used].map((one) => Number(one?.replaceAll(',', ''))) as [number, number];
    const twice = Number((2 * Math.max(before, most)).toPrecision(2)) || 1;
    const [name, unit] = [limit.replace(/_.*/, ''), limit === 'run_ms' ? 's' : ''];
    return { limit, was: limit === 'run_ms' ? before * 1000 : before, raised: `${name}=${twice}${unit}` };
  }
  return null;
}

/** Maximum time reserved for the last answer, which otherwise gets the last quarter of the run time. */
const LAST_WORD_MS = 60_000;

export interface RunDeadline {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** True: the run time ends. False: the last answer is requested. */
  readonly final: boolean;
}

/** The next deadline of the turn; null without a turn. The run time is a maximum that includes the last answer. */
export function runDeadline(state: AgentState, run_ms: number): RunDeadline | null {
  if (!('turn' in state)) return null;
  const { started_at, grace, late } = state.turn;
  const end = started_at + run_ms;
  if (grace !== null || late !== undefined) return { at: end, final: true };
  return { at: end - Math.min(LAST_WORD_MS, run_ms / 4), final: false };
}
