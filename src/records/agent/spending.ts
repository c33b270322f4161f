import type { Dimension } from './budget.ts';
import type { Limits, TreeLimits } from './limits.ts';

/** Limits that a person sets on a budget; null: none; those left out stay. */
export type SpendingLimits = { readonly [Name in Dimension]?: number | null | undefined };

/** `usd=2`, `tokens=50000`, `usd=none`; a text says what is wrong. */
export function parseSpending(words: readonly string[]): SpendingLimits | string {
  const said: { [Name in Dimension]?: number | null } = {};
  for (const word of words) {
    const [, name, value = ''] = /^(usd|tokens)=(.+)$/.exec(word) ?? [];
    const limit = value === 'none' ? null : Number(value);
    const is_amount = limit === null || (limit >= 0 && Number.isFinite(limit));
    if (name === undefined || !is_amount || (name === 'tokens' && limit !== null && !Number.isInteger(limit)))
      return `"${word}" is no budget: write usd=2.50, tokens=50000, or =none for no limit`;
    said[name as Dimension] = limit;
  }
  return said;
}

/** Where a person limits tokens or cost of a tree, the other one no longer has its protecting default. */
export function withSpending(
  { usual, ...kept }: TreeLimits,
  { tokens, cost_usd }: { readonly [Name in 'tokens' | 'cost_usd']?: Limits[Name] | undefined },
): TreeLimits {
  if (tokens === undefined && cost_usd === undefined) return usual ? { ...kept, usual } : kept;
  const before = usual ? { tokens: null, cost_usd: null } : kept;
  return {
    ...kept,
    tokens: tokens === undefined ? before.tokens : tokens,
    cost_usd: cost_usd === undefined ? before.cost_usd : cost_usd,
  };
}
