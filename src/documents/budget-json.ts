import type { Agent } from '../records/agent/agent.ts';
import {
  type AgentBudget,
  amountText,
  type Dimension,
  leftOf,
  scopeOf,
  timeBudgetEnd,
} from '../records/agent/budget.ts';
import type { Store } from '../store/store.ts';
import { isoTime } from './iso-time.ts';
import type { DocumentOf } from './shapes/all-documents.ts';

type BudgetDocument = DocumentOf<'coppice/budget/v1'>;

/** Amounts that an agent may spend: for each dimension, by the nearest budget on its path that limits it. */
export async function budgetDocument(
  store: Pick<Store, 'agent' | 'tree'>,
  { id, name, root_id, config }: Agent,
): Promise<BudgetDocument> {
  const tree = await store.tree(root_id);
  if (tree === null) throw new Error(`the tree ${root_id} is gone`);
  const holders = new Map<string, AgentBudget>();
  for (const { agent_id } of config.budgets ?? []) {
    const budget = (await store.agent(agent_id))?.budget;
    if (budget !== undefined) holders.set(agent_id, budget);
  }
  const scope = (dimension: Dimension): BudgetDocument['usd'] => {
    const { agent_id, budget } = scopeOf(dimension, config, tree, (holder) => holders.get(holder));
    const { limit, spent, reserved } = budget;
    return {
      holder: agent_id ?? root_id,
      of_tree: agent_id === null,
      limit: limit[dimension],
      spent: spent[dimension],
      reserved: reserved[dimension],
      left: leftOf(budget, dimension),
    };
  };
  const until = timeBudgetEnd(config);
  return {
    schema: 'coppice/budget/v1',
    ...{ agent_id: id, name, root_id, usd: scope('usd'), tokens: scope('tokens') },
    until: Number.isFinite(until) ? isoTime(until) : null,
  };
}

/** Text for people: one line for each dimension, and one for the time. */
export function budgetLines(document: BudgetDocument): string[] {
  const lines = (['usd', 'tokens'] as const).map((name) => {
    const { holder, of_tree, limit, spent, reserved, left } = document[name];
    const text = (amount: number) => amountText(name, amount);
    const whose = of_tree ? 'tree' : holder === document.agent_id ? 'own' : `agent ${holder.slice(0, 8)}`;
    if (limit === null || left === null) return `${whose}: ${text(spent)} used, no limit`;
    const set_aside = reserved > 0 ? `, ${text(reserved)} set aside for agents below` : '';
    const gone = name === 'tokens' ? spent.toLocaleString('en') : text(spent);
    return `${whose}: ${gone} of ${text(limit)} used${set_aside}, ${text(left)} left`;
  });
  return document.until === null ? lines : [...lines, `time: until ${document.until}`];
}
