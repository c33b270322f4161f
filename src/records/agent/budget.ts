import type { TreeLimits } from './limits.ts';
import type { Usage } from './usage.ts';

/** Amounts that requests use. Tokens exclude input read from a cache, which providers bill at a fraction, and input that a server without a cache was sent before. */
export interface Amounts {
  readonly tokens: number;
  readonly usd: number;
}

export type Dimension = keyof Amounts;
export const DIMENSIONS: readonly Dimension[] = ['tokens', 'usd'];
/** Tolerance for comparing amounts: sums of money accumulate floating-point error. */
export const TOLERANCE = 1e-9;
/** Share of a budget from which on the agent is warned, once. */
export const WARNED_AT = 0.8;
export const NOTHING: Amounts = { tokens: 0, usd: 0 };

/** Maximum that an agent and all agents below it may spend. For an absent field only the budgets above it apply. */
export interface BudgetTerms {
  readonly tokens?: number | undefined;
  /** US dollars. */
  readonly usd?: number | undefined;
  /** Wall time since the agent was created. */
  readonly seconds?: number | undefined;
}

/** A budget on the path from an agent to its root: its own or an ancestor's. Part of the configuration. */
export interface PathBudget extends BudgetTerms {
  readonly agent_id: string;
  /** When `seconds` run out; milliseconds since the epoch. */
  readonly until?: number;
}

/** Sums of a budget, as the ledger keeps them. The limits of a tree are treated as the budget of its root. */
export interface Budget {
  readonly limit: { readonly [Name in Dimension]: number | null };
  readonly spent: Amounts;
  /** Unspent rest of the budgets that were given to agents below it. */
  readonly reserved: Amounts;
}

/** The budget of an agent. `above`: ids of the agents with budgets on the path to the root, nearest first. */
export interface AgentBudget extends Budget {
  readonly above: readonly string[];
  /** Set when the agent has ended and the rest was returned to the budget above. */
  readonly closed?: true;
}

/** The part of a configuration that lists the budgets on the path. */
interface OnPath {
  readonly budgets?: readonly PathBudget[];
}

/** What a tree has spent, and may spend. */
export interface TreeSums {
  readonly limits: TreeLimits;
  readonly tokens: number;
  readonly cost_usd: number;
  /** Part of `tokens` that no limit counts (docs/budgets.md#tokens-that-count); absent: none. */
  readonly cached?: number;
  /** Unspent rest of the budgets that agents were given; absent: nothing. */
  readonly reserved?: Amounts;
}

export function treeBudget({ limits, tokens, cost_usd, cached = 0, reserved = NOTHING }: TreeSums): Budget {
  return {
    limit: { tokens: limits.tokens, usd: limits.cost_usd },
    spent: { tokens: tokens - cached - (limits.free ?? 0), usd: cost_usd },
    reserved,
  };
}

export function optionalTreeSums(columns: {
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

export function ownBudget(id: string, { budgets }: OnPath): PathBudget | null {
  const [first] = budgets ?? [];
  return first?.agent_id === id ? first : null;
}

/** The field `payers` of the agent's steps: ids of the agents whose budgets its requests are charged to. */
export function payersOf({ budgets }: OnPath): { readonly payers?: readonly string[] } {
  return budgets === undefined ? {} : { payers: budgets.map(({ agent_id }) => agent_id) };
}

/** Fills in id and deadline of a root's own budget, which its profile sets before the root has an id (`profileFields`). */
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

export function amountsOf({ input, output, cached, resent, cost_usd }: Usage): Amounts {
  return { tokens: input - cached - (resent ?? 0) + output, usd: cost_usd ?? 0 };
}

/** The amount that is neither spent nor reserved, 0 if closed; null: the budget does not limit this dimension. */
export function leftOf(
  { limit, spent, reserved, closed }: Budget & { readonly closed?: true },
  name: Dimension,
) {
  const most = limit[name];
  return most === null ? null : closed ? 0 : Math.max(0, most - spent[name] - reserved[name]);
}

export interface Scope {
  /** The agent that the budget belongs to; null: the tree's limits. */
  readonly agent_id: string | null;
  readonly budget: Budget;
  /** Whether the limits are the default of a tree that nobody limited (`DEFAULT_SPENDING_LIMITS`). */
  readonly usual?: true | undefined;
}

/**
 * The nearest budget on the path that limits this dimension. Budgets above it need no check: they have already reserved the amount that it may spend.
 */
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

/** Amounts that may still be spent; null: no limit. `until`: milliseconds since the epoch, `Infinity` without a limit. */
export interface Left {
  readonly tokens: number | null;
  readonly usd: number | null;
  readonly until: number;
}

/** Amounts that an agent with this configuration may still spend or give to children, after deducting the budgets in `given`. */
export function leftFor(
  config: OnPath,
  tree: TreeSums,
  budgetOf: (id: string) => AgentBudget | undefined,
  given: readonly BudgetTerms[],
): Left {
  const left = (name: Dimension) => leftOf(scopeOf(name, config, tree, budgetOf).budget, name);
  return given.reduce(without, { tokens: left('tokens'), usd: left('usd'), until: timeBudgetEnd(config) });
}

/** Returns what is left after giving this budget to a child. */
export function without({ tokens, usd, until }: Left, given: BudgetTerms | null): Left {
  const less = (left: number | null, gone: number | undefined) => left && Math.max(0, left - (gone ?? 0));
  return { tokens: less(tokens, given?.tokens), usd: less(usd, given?.usd), until };
}

/** The earliest time limit among the budgets on the path, milliseconds since the epoch; `Infinity` if none has one. */
export function timeBudgetEnd({ budgets = [] }: OnPath): number {
  return Math.min(...budgets.map(({ until }) => until ?? Number.POSITIVE_INFINITY));
}

export function withMovedEnds<Config extends OnPath>(config: Config, by_ms: number): Config {
  return config.budgets === undefined ? config : { ...config, budgets: movedInstants(config.budgets, by_ms) };
}

/** `$0.25`, `12,000 tokens`. */
export function amountText(name: Dimension, amount: number): string {
  return name === 'usd'
    ? `$${Number(amount.toFixed(4))}`
    : `${Math.floor(amount).toLocaleString('en')} tokens`;
}

/** Names of instants from which durations are measured, or at which they end. */
const INSTANTS: ReadonlySet<string> = new Set(['started_at', 'at', 'deadline', 'until']);

/** The same data with these instants moved, so that what is left of each duration stays. The timer of a workflow ends when the clock on the wall says so. */
export function movedInstants<Data>(data: Data, by_ms: number): Data {
  return JSON.parse(JSON.stringify(data), function (this: { readonly runs?: unknown }, name, value) {
    const moves = INSTANTS.has(name) && typeof value === 'number' && this.runs !== true;
    return moves ? value + by_ms : value;
  });
}
