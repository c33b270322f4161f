import type { AgentConfig } from '../../records/agent/agent.ts';
import { type AgentBudget, DIMENSIONS, type Dimension, NOTHING } from '../../records/agent/budget.ts';
import type { TreeLimits } from '../../records/agent/limits.ts';
import type { Row } from '../ledger/tables.ts';
import type { CutFacts } from './cut-facts.ts';

/** Budgets as they were at a cut, so that the new tree may spend what the old one could have spent from there. */
export interface BudgetsAt {
  /** Sums of the tree. */
  readonly tree: Row;
  /** The budget of an agent, as its row has it. */
  readonly of: (id: string, ids: ReadonlyMap<string, string>) => string | null;
}

/** `hasEnded`: at the cut. */
export function budgetsAt(
  { tree, members, spent_since }: CutFacts,
  kept: readonly Row[],
  hasEnded: (id: string) => boolean,
): BudgetsAt {
  const budgets = new Map<string, AgentBudget>();
  const reserved = { tokens: 0, usd: 0 };
  for (const { id, budget } of kept)
    if (typeof budget === 'string')
      budgets.set(id as string, { ...(JSON.parse(budget) as AgentBudget), reserved: NOTHING });
  const after = { tokens: 0, cached_tokens: 0, cost_usd: 0 };
  for (const { id, config } of members) {
    const since = spent_since.get(id as string) as Record<string, number> | undefined;
    if (since === undefined) continue;
    const { input_tokens = 0, output_tokens = 0, cached_tokens = 0, cost_usd = 0 } = since;
    after.tokens += input_tokens + output_tokens;
    after.cached_tokens += cached_tokens;
    after.cost_usd += cost_usd;
    const counted = { tokens: input_tokens - cached_tokens + output_tokens, usd: cost_usd };
    for (const { agent_id } of (JSON.parse(config as string) as AgentConfig).budgets ?? []) {
      const budget = budgets.get(agent_id);
      if (budget === undefined) continue;
      const left = (name: Dimension) => Math.max(0, budget.spent[name] - counted[name]);
      budgets.set(agent_id, { ...budget, spent: { tokens: left('tokens'), usd: left('usd') } });
    }
  }
  for (const [id, { closed: _, ...budget }] of budgets)
    budgets.set(id, hasEnded(id) ? { ...budget, closed: true } : budget);
  for (const { limit, spent, above, closed } of budgets.values()) {
    if (closed) continue;
    for (const name of DIMENSIONS) {
      const unspent = Math.max(0, (limit[name] ?? 0) - spent[name]);
      const holder = above.find((one) => (budgets.get(one)?.limit[name] ?? null) !== null);
      const budget = holder === undefined ? undefined : budgets.get(holder);
      if (budget === undefined) reserved[name] += unspent;
      else
        budgets.set(holder as string, {
          ...budget,
          reserved: { ...budget.reserved, [name]: budget.reserved[name] + unspent },
        });
    }
  }
  const least = (name: keyof typeof after) => Math.max(0, (tree[name] as number) - after[name]);
  const limits = JSON.parse(tree.limits as string) as TreeLimits;
  // How much of what came later was free is not in the ledger: at most all that was spent before.
  const free = Math.min(limits.free ?? 0, least('tokens') - least('cached_tokens'));
  return {
    tree: {
      ...(limits.free !== undefined && { limits: JSON.stringify({ ...limits, free }) }),
      ...{ tokens: least('tokens'), cached_tokens: least('cached_tokens'), cost_usd: least('cost_usd') },
      ...{ reserved_tokens: reserved.tokens, reserved_usd: reserved.usd },
    },
    of(id, ids) {
      const budget = budgets.get(id);
      if (budget === undefined) return null;
      return JSON.stringify({ ...budget, above: budget.above.map((one) => ids.get(one) ?? one) });
    },
  };
}
