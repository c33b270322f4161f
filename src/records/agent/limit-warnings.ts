import type { Agent, Tree } from './agent.ts';
import { type Amounts, amountsOf, TOLERANCE, treeBudget } from './budget.ts';
import type { Usage } from './usage.ts';

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
  const turns = Math.min(limits.turns, config.turns ?? limits.turns);
  const requests = ({ state: at }: Pick<Agent, 'state'>) => ('turn' in at ? at.turn.requests : 0);
  const rows = [
    ['"tokens" of the tree', limits.tokens, spent.tokens, added('tokens')],
    ['"cost" of the tree, in dollars,', limits.cost_usd, spent.usd, added('usd')],
    ['"total" of the tree', limits.total, total, step.create.length],
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
