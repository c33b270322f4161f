import {
  type AgentBudget,
  type Amounts,
  amountsOf,
  amountText,
  type Budget,
  DIMENSIONS,
  type Dimension,
  leftOf,
  NOTHING,
  newBudget,
  ownBudget,
  TOLERANCE,
  treeBudget,
} from '../../records/agent/budget.ts';
import { type SpendingLimits, withSpending } from '../../records/agent/spending.ts';
import type { Refusal, Step } from '../step.ts';
import type { AgentFacts, TreeFacts } from './facts.ts';
import type { UnitOfWork } from './unit-of-work.ts';

/**
 * Budgets of agents (docs/budgets.md). A budget is reserved in the nearest budget above it that limits the same dimension. Spending reduces the reservation,
 * so `spent + reserved` of a budget exceeds its limit at most by requests that were in flight. Agents without a budget on their path cost nothing here.
 */

export function budgetOf(unit: UnitOfWork, id: string): AgentBudget | null {
  const text = unit.agent(id)?.budget ?? null;
  return text === null ? null : (JSON.parse(text) as AgentBudget);
}

/** Charges the requests of a step to every budget on the path of its agent. `admit.ts` counts the tree's own sums. */
export function charge(unit: UnitOfWork, { requests, payers = [] }: Step, root_id: string): void {
  if (requests.length === 0 || payers.length === 0) return;
  const used = requests.map(({ usage }) => amountsOf(usage));
  const freed: Record<Dimension, number> = { ...NOTHING };
  for (const id of payers) {
    const budget = budgetOf(unit, id);
    if (budget === null) continue;
    const [spent, reserved] = [{ ...budget.spent }, { ...budget.reserved }];
    for (const name of DIMENSIONS) {
      const before = unspent(budget, name);
      spent[name] += used.reduce((sum, one) => sum + one[name], 0);
      if (before === null) continue;
      reserved[name] = Math.max(0, reserved[name] - freed[name]);
      freed[name] = before - (unspent({ ...budget, spent }, name) ?? 0);
    }
    setBudget(unit, id, { ...budget, spent, reserved });
  }
  setTreeReserve(unit, root_id, (name, reserved) => reserved - freed[name]);
}

/** Closes the budget of an ended agent and returns what is left to the budget in which it was reserved. */
export function closeBudget(unit: UnitOfWork, { id, root_id }: AgentFacts): void {
  const budget = budgetOf(unit, id);
  if (budget === null || budget.closed) return;
  setBudget(unit, id, { ...budget, closed: true });
  reserve(unit, root_id, budget.above, (name) => -(unspent(budget, name) ?? 0));
}

/** Reserves the budget of a new agent in the nearest budgets above it; does not check that it fits (`exceededBudget`). */
export function openBudget(unit: UnitOfWork, root_id: string, budget: AgentBudget): void {
  reserve(unit, root_id, budget.above, (name) => budget.limit[name] ?? 0);
}

/** Refuses new budgets that exceed what is left above them; null if they fit. All agents that a step creates have the same budgets above them. */
export function exceededBudget(
  unit: UnitOfWork,
  { create, requests }: Step,
  root_id: string,
): Refusal | null {
  const asked = create.flatMap(({ agent: { id, config } }) => {
    const own = ownBudget(id, config);
    return own === null ? [] : [newBudget(own, (config.budgets ?? []).slice(1))];
  });
  const [first] = asked;
  if (first === undefined) return null;
  for (const name of DIMENSIONS) {
    const wanted = asked.reduce((sum, { limit }) => sum + (limit[name] ?? 0), 0);
    const used = requests.reduce((sum, { usage }) => sum + amountsOf(usage)[name], 0);
    const holder = wanted === 0 ? null : nearest(unit, first.above, name);
    const above = holder?.budget ?? treeBudgetOf(unit, root_id);
    const left = leftOf(above, name);
    if (wanted === 0 || left === null || wanted + used <= left + TOLERANCE) continue;
    return { reason: 'budget', budgets: budgetsOf(unit, first.above) };
  }
  return null;
}

export type BudgetChange = { readonly ok: true } | { readonly ok: false; readonly error: string };

/**
 * Changes the limits of an agent's budget on a person's order; for a root, also those of its tree. An increase is reserved in the budget above, a decrease
 * is returned to it. The processes that lead the agents see the change with their next commit.
 */
export function changeBudget(unit: UnitOfWork, id: string, wanted: SpendingLimits): BudgetChange {
  const no = (error: string): BudgetChange => ({ ok: false, error });
  const agent = unit.agent(id);
  if (agent === null) return no('the agent was removed');
  const { root_id } = agent;
  const is_root = agent.parent_id === null;
  const budget = budgetOf(unit, id);
  if (budget?.closed === true) return no('the agent has ended, and the rest of its budget was returned');
  if (budget === null && !is_root) return no('it has no budget of its own');
  const more: Record<Dimension, number> = { ...NOTHING };
  const limit = { ...(budget?.limit ?? NO_LIMITS) };
  for (const name of DIMENSIONS) {
    const most = wanted[name];
    const before = budget === null ? null : unspent(budget, name);
    if (most === undefined || budget === null || (is_root && before === null)) continue;
    if (before === null) return no(`it has no budget "${name}" of its own`);
    if (most === null) return no('its own budget must stay limited');
    limit[name] = most;
    more[name] = Math.max(0, most - budget.spent[name]) - before;
    const left = leftOf(nearest(unit, budget.above, name)?.budget ?? treeBudgetOf(unit, root_id), name);
    // The limits of a tree change with its root's budget, so a root needs no check.
    if (!is_root && left !== null && more[name] > left + TOLERANCE)
      return no(`only ${amountText(name, left)} is left in the budget above it: raise that budget first`);
  }
  if (is_root) {
    const tree = unit.tree(root_id) as TreeFacts;
    const said = { tokens: wanted.tokens, cost_usd: wanted.usd };
    unit.setTree(tree, { limits: JSON.stringify(withSpending(unit.limits(tree), said)) });
  }
  if (budget === null) return { ok: true };
  setBudget(unit, id, { ...budget, limit });
  reserve(unit, root_id, budget.above, (name) => more[name]);
  return { ok: true };
}

const NO_LIMITS: Budget['limit'] = { tokens: null, usd: null };

/** Returns the budgets of these agents by id; agents without one are left out. */
export function budgetsOf(unit: UnitOfWork, ids: readonly string[]): ReadonlyMap<string, AgentBudget> {
  return new Map(
    ids.flatMap((id) => {
      const budget = budgetOf(unit, id);
      return budget === null ? [] : [[id, budget] as const];
    }),
  );
}

function unspent({ limit, spent, closed }: AgentBudget, name: Dimension): number | null {
  const most = limit[name];
  return most === null ? null : closed ? 0 : Math.max(0, most - spent[name]);
}

function nearest(unit: UnitOfWork, ids: readonly string[], name: Dimension) {
  for (const id of ids) {
    const budget = budgetOf(unit, id);
    if (budget !== null && budget.limit[name] !== null) return { id, budget };
  }
  return null;
}

function reserve(
  unit: UnitOfWork,
  root_id: string,
  above: readonly string[],
  more: (name: Dimension) => number,
): void {
  for (const name of DIMENSIONS) {
    const amount = more(name);
    if (amount === 0) continue;
    const holder = nearest(unit, above, name);
    const after = (reserved: Amounts) => ({ ...reserved, [name]: Math.max(0, reserved[name] + amount) });
    if (holder === null)
      setTreeReserve(unit, root_id, (one, reserved) => (one === name ? reserved + amount : reserved));
    else setBudget(unit, holder.id, { ...holder.budget, reserved: after(holder.budget.reserved) });
  }
}

function setBudget(unit: UnitOfWork, id: string, budget: AgentBudget): void {
  unit.setAgent(unit.agent(id) as AgentFacts, { budget: JSON.stringify(budget) });
}

function setTreeReserve(
  unit: UnitOfWork,
  root_id: string,
  after: (name: Dimension, reserved: number) => number,
): void {
  const tree = unit.tree(root_id) as TreeFacts;
  const { reserved } = treeBudgetOf(unit, root_id);
  const [tokens, usd] = DIMENSIONS.map((name) => Math.max(0, after(name, reserved[name])));
  unit.setTree(tree, { reserved_tokens: tokens as number, reserved_usd: usd as number });
}

function treeBudgetOf(unit: UnitOfWork, root_id: string): Budget {
  const tree = unit.tree(root_id) as TreeFacts;
  const reserved = { tokens: tree.reserved_tokens, usd: tree.reserved_usd };
  return treeBudget({ ...tree, limits: unit.limits(tree), cached: tree.cached_tokens, reserved });
}
