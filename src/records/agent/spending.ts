import type { Dimension } from './budget.ts';
import type { Limits, TreeLimits } from './limits.ts';

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
  { usual, free, ...kept }: TreeLimits,
  { tokens, cost_usd }: { readonly [Name in 'tokens' | 'cost_usd']?: Limits[Name] | undefined },
): TreeLimits {
  if (tokens === undefined && cost_usd === undefined)
    return usual ? { ...kept, usual, ...(free !== undefined && { free }) } : kept;
  const before = usual ? { tokens: null, cost_usd: null } : kept;
  return {
    ...kept,
    tokens: tokens === undefined ? before.tokens : tokens,
    cost_usd: cost_usd === undefined ? before.cost_usd : cost_usd,
  };
}
