import type { Agent, Tree } from './agent.ts';
import { type Amounts, amountsOf, type Dimension, TOLERANCE, treeBudget } from './budget.ts';
import type { Limits, TreeLimits } from './limits.ts';
import type { Usage } from './usage.ts';

/** Limits that a person sets on a budget. Null removes a limit; an absent one stays unchanged. */
export type SpendingLimits = { readonly [Name in Dimension]?: number | null | undefined };

/** Parses `usd=2`, `tokens=50000`, `usd=none`. Returns an error message if a word is invalid. */
export function parseSpending(words: readonly string[]): SpendingLimits | string {
  const said: { [Name in Dimension]?: number | null } = {};
  for (const word of words) {
    const [, name, value = ''] = /^(usd|tokens)=(.+)$/.exec(word) ?? [];
    const limit = value === 'none' ? null : Number(value);
    const is_amount = limit === null || (limit >= 0 && Number.isFinite(limit));
    if (name === undefined || !is_amount || (name === 'tokens' && limit !== null && !Number.isInteger(limit)))
      return `"${word}" is not a valid budget: write usd=2.50 or tokens=50000, or usd=none for no limit`;
    said[name as Dimension] = limit;
  }
  return said;
}

/** Applies a person's limits on a tree. Setting either tokens or cost removes the protecting default of the other. */
export function withSpending(
  limits: TreeLimits,
  { tokens, cost_usd }: { readonly [Name in 'tokens' | 'cost_usd']?: Limits[Name] | undefined },
): TreeLimits {
  if (tokens === undefined && cost_usd === undefined) return limits;
  const { usual, free: _, ...kept } = limits;
  const before = usual ? { tokens: null, cost_usd: null } : kept;
  return {
    ...kept,
    tokens: tokens === undefined ? before.tokens : tokens,
    cost_usd: cost_usd === undefined ? before.cost_usd : cost_usd,
  };
}

/** Shares of a limit of which people are warned. */
export const WARNED_SHARES = [
  [0.8, '80 %'],
  [0.5, 'half'],
] as const;

interface SpendingStep extends Pick<Agent, 'state'> {
  readonly requests: readonly { readonly usage: Usage; readonly is_free?: true }[];
  readonly create: readonly unknown[];
}

/** Warnings about limits of which a step has used another share. The sums are those of its transaction, so one step reaches each share, in whichever process. */
export function warningsOf(step: SpendingStep, { state, config }: Agent, tree: Tree): readonly string[] {
  const { limits, total } = tree;
  const { spent } = treeBudget(tree);
  const counted = step.requests.filter(({ is_free }) => !(is_free && limits.usual));
  const added = (name: keyof Amounts) => counted.reduce((sum, { usage }) => sum + amountsOf(usage)[name], 0);
  // A script has as many turns as it needs, and its agents count towards its own limit.
  const { workflow } = config;
  const turns = workflow ? null : Math.min(limits.turns, config.turns ?? limits.turns);
  const requests = ({ state: at }: Pick<Agent, 'state'>) => ('turn' in at ? at.turn.requests : 0);
  const rows = [
    ['"tokens" of the tree', limits.tokens, spent.tokens, added('tokens')],
    ['"cost" of the tree, in dollars,', limits.cost_usd, spent.usd, added('usd')],
    ['"total" of the tree', limits.total, total, workflow ? 0 : step.create.length],
    ['"turns" of a turn', turns, requests(step), requests(step) - requests({ state })],
  ] as const;
  return rows.flatMap(([limit, most, sum, more]) => {
    if (most === null || sum >= most) return [];
    const missing = (share: number) => share * most - sum - TOLERANCE;
    const reached = WARNED_SHARES.find(([share]) => missing(share) <= 0 && missing(share) + more > 0);
    const number = (amount: number) => Number(amount.toFixed(4)).toLocaleString('en');
    return reached ? [`${reached[1]} of the limit ${limit} is used: ${number(sum)} of ${number(most)}`] : [];
  });
}
