import type { TreeLimits } from './limits.ts';
import type { Usage } from './usage.ts';

/** What requests use up. Tokens without input read from a cache: providers bill that at a fraction. */
export interface Amounts {
  readonly tokens: number;
  readonly usd: number;
}

export type Dimension = keyof Amounts;
export const DIMENSIONS: readonly Dimension[] = ['tokens', 'usd'];
/** Money is added up in binary fractions: what differs by less is equal. */
export const DUST = 1e-9;
export const NOTHING: Amounts = { tokens: 0, usd: 0 };

/** What an agent may spend, with all agents below it; absent: what is above it decides. */
export interface BudgetTerms {
  readonly tokens?: number | undefined;
  /** US dollars. */
  readonly usd?: number | undefined;
  /** Wall time from its creation on. */
  readonly seconds?: number | undefined;
}

/** A budget on the path from an agent to its root: that of the agent itself, or of an ancestor. Part of the configuration. */
export interface PathBudget extends BudgetTerms {
  readonly agent_id: string;
  /** When `seconds` are over, milliseconds since the epoch. */
  readonly until?: number;
}

/** Sums of a budget, as the ledger keeps them. The tree's limits are the budget of its root. */
export interface Budget {
  readonly limit: { readonly [Name in Dimension]: number | null };
  readonly spent: Amounts;
  /** What is left of the budgets that it gave to agents below it. */
  readonly reserved: Amounts;
}

/** The budget of an agent; `above`: agents with budgets on the path to the root, nearest first. */
export interface AgentBudget extends Budget {
  readonly above: readonly string[];
  /** The agent has ended, and what was left went back. */
  readonly closed?: true;
}

/** The part of a configuration that says which budgets are on the path. */
interface OnPath {
  readonly budgets?: readonly PathBudget[];
}

interface TreeSums {
  readonly limits: TreeLimits;
  readonly tokens: number;
  readonly cost_usd: number;
  readonly cached?: number;
  readonly reserved?: Amounts;
}

export function treeBudget({ limits, tokens, cost_usd, cached = 0, reserved = NOTHING }: TreeSums): Budget {
  return {
    limit: { tokens: limits.tokens, usd: limits.cost_usd },
    spent: { tokens: tokens - cached, usd: cost_usd },
    reserved,
  };
}

/** Fields of a tree that most trees do not have, from their columns. */
export function treeExtras(columns: {
  readonly cached_tokens: number;
  readonly reserved_tokens: number;
  readonly reserved_usd: number;
}): Pick<TreeSums, 'cached' | 'reserved'> {
  const { cached_tokens: cached, reserved_tokens: tokens, reserved_usd: usd } = columns;
  return {
    ...(cached === 0 ? {} : { cached }),
    ...(tokens + usd === 0 ? {} : { reserved: { tokens, usd } }),
  };
}

export function newBudget(own: PathBudget, above: readonly PathBudget[]): AgentBudget {
  const limit = { tokens: own.tokens ?? null, usd: own.usd ?? null };
  return { limit, spent: NOTHING, reserved: NOTHING, above: above.map(({ agent_id }) => agent_id) };
}

/** The agent's own budget, from its configuration. */
export function ownBudget(id: string, { budgets }: OnPath): PathBudget | null {
  const [first] = budgets ?? [];
  return first?.agent_id === id ? first : null;
}

/** Whom the requests of an agent are charged to, for its steps. */
export function payersOf({ budgets }: OnPath): { readonly payers?: readonly string[] } {
  return budgets === undefined ? {} : { payers: budgets.map(({ agent_id }) => agent_id) };
}

/** A root's own budget comes from its profile, before there is an id (`profileFields`). */
export function rootBudget<Config extends OnPath>(
  config: Config,
  agent_id: string,
  created_at: number,
): Config {
  if (config.budgets === undefined) return config;
  const budgets = config.budgets.map((one) => ({
    ...one,
    agent_id,
    ...(one.seconds === undefined ? {} : { until: created_at + Math.round(one.seconds * 1_000) }),
  }));
  return { ...config, budgets };
}

export function amountsOf({ input, output, cached, cost_usd }: Usage): Amounts {
  return { tokens: input - cached + output, usd: cost_usd ?? 0 };
}

/** What is neither spent nor reserved; null: not limited here. */
export function leftOf(
  { limit, spent, reserved, closed }: Budget & { readonly closed?: true },
  name: Dimension,
) {
  const most = limit[name];
  return most === null ? null : closed ? 0 : Math.max(0, most - spent[name] - reserved[name]);
}

export interface Scope {
  /** Whose budget it is; null: the tree's. */
  readonly agent_id: string | null;
  readonly budget: Budget;
  /** Of a tree that nobody limited. */
  readonly usual?: true | undefined;
}

/** The nearest budget on the path that limits this: what the budgets above it have set aside for it is accounted there already. */
export function scopeOf(
  name: Dimension,
  { budgets = [] }: OnPath,
  tree: TreeSums,
  budgetOf: (id: string) => AgentBudget | undefined,
): Scope {
  for (const { agent_id } of budgets) {
    const budget = budgetOf(agent_id);
    if (budget !== undefined && budget.limit[name] !== null) return { agent_id, budget };
  }
  return { agent_id: null, budget: treeBudget(tree), usual: tree.limits.usual };
}

/** What may still be spent; null: no limit. `until`: milliseconds since the epoch, `Infinity` without limit. */
export interface Left {
  readonly tokens: number | null;
  readonly usd: number | null;
  readonly until: number;
}

/** What an agent of this configuration may still spend or give away, after `given` was given away, too. */
export function leftFor(
  config: OnPath,
  tree: TreeSums,
  budgetOf: (id: string) => AgentBudget | undefined,
  given: readonly BudgetTerms[],
): Left {
  const left = (name: Dimension) => leftOf(scopeOf(name, config, tree, budgetOf).budget, name);
  return given.reduce(without, { tokens: left('tokens'), usd: left('usd'), until: timeBudgetEnd(config) });
}

/** What is left after giving away this budget. */
export function without({ tokens, usd, until }: Left, given: BudgetTerms | null): Left {
  const less = (left: number | null, gone: number | undefined) => left && Math.max(0, left - (gone ?? 0));
  return { tokens: less(tokens, given?.tokens), usd: less(usd, given?.usd), until };
}

/** When the time of the first budget on the path is over, milliseconds since the epoch. */
export function timeBudgetEnd({ budgets = [] }: OnPath): number {
  return Math.min(...budgets.map(({ until }) => until ?? Number.POSITIVE_INFINITY));
}

/** `$0.25`, `12,000 tokens`. */
export function amountText(name: Dimension, amount: number): string {
  return name === 'usd'
    ? `$${Number(amount.toFixed(4))}`
    : `${Math.floor(amount).toLocaleString('en')} tokens`;
}
