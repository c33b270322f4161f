import type { Agent } from '../../records/agent/agent.ts';
import {
  amountText,
  DIMENSIONS,
  type Dimension,
  DUST,
  type Scope,
  scopeOf,
  timeBudgetEnd,
} from '../../records/agent/budget.ts';
import type { PlacedMessage } from '../../records/conversation/message.ts';
import type { AgentIndex } from './agent-index.ts';
import type { Cell } from './cell.ts';
import type { Charged } from './requests-in-flight.ts';

/*
 * Whether an agent may ask its model once more (docs/budgets.md). The sums are those of the commit that led to the request, so they are as new as the ledger, and
 * what this process has asked for since is added. Laws:
 * B1. At most one request of an agent ends beyond its budget: the one whose answer passed it is its last, and where that can be foreseen, it is asked to finish.
 * B2. A turn that begins when nothing is left asks nothing.
 */

/** From this share on, the agent is told once. */
const TOLD_AT = 0.8;

/** `stop`: nothing is asked. `last`: what is left does for one answer. */
export type BudgetVerdict =
  | { readonly type: 'go'; readonly charged: Charged }
  | { readonly type: 'stop' | 'last' | 'tell'; readonly text: string };

export function checkBudgets(cell: Cell, agent_index: AgentIndex, now: number): BudgetVerdict {
  const { agent } = cell;
  const { in_flight } = agent_index;
  const { state, config, root_id } = agent;
  const charged = { tokens: root_id, usd: root_id };
  if (state.type !== 'requesting') return { type: 'go', charged };
  const { turn } = state;
  if (turn.requests === 0 && timeBudgetEnd(config) <= now) return { type: 'stop', text: TIME_OVER };
  const usual = in_flight.usual(root_id);
  let last: string | null = null;
  let tell: string | null = null;
  for (const name of DIMENSIONS) {
    const scope = scopeFor(agent, name, agent_index);
    const limit = scope?.budget.limit[name] ?? null;
    if (scope === null || limit === null) continue;
    const { spent, reserved } = scope.budget;
    charged[name] = scope.agent_id ?? root_id;
    const gone = spent[name] + reserved[name] + DUST;
    if (gone >= limit && (turn.requests === 0 || cell.overspent))
      return {
        type: 'stop',
        text: `${subject(scope, name)} reached: ${used(scope, name)}. ${remedy(scope, name)}`,
      };
    const asked = in_flight.of(charged[name])[name];
    if (gone + asked + 2 * usual[name] > limit + 2 * DUST)
      last ??= `${subject(scope, name)} reached: ${used(scope, name)}${gone < limit ? ', and the rest does for one answer' : ''}. ${remedy(scope, name)}`;
    if (gone >= TOLD_AT * limit)
      tell ??= `${subject(scope, name)}: ${used(scope, name)}. Come to an end before it is used up.`;
  }
  if (turn.grace !== null || turn.requests === 0) last = null;
  if (last !== null) return { type: 'last', text: last };
  if (tell !== null && !cell.warned && turn.grace === null) return { type: 'tell', text: tell };
  return { type: 'go', charged };
}

/** After the commit of an answer: it passed a budget. */
export function isOverspent(agent: Agent, agent_index: AgentIndex): boolean {
  return DIMENSIONS.some((name) => {
    const budget = scopeFor(agent, name, agent_index)?.budget;
    const limit = budget?.limit[name] ?? null;
    return (
      budget !== undefined && limit !== null && budget.spent[name] + budget.reserved[name] > limit + DUST
    );
  });
}

/** In an earlier process. */
export function wasWarned(agent_id: string, history: readonly PlacedMessage[]): boolean {
  return history.some(
    (message) =>
      message.agent_id === agent_id && message.kind === 'event' && message.content.data?.about === 'budget',
  );
}

function scopeFor({ root_id, config }: Agent, name: Dimension, agent_index: AgentIndex): Scope | null {
  const tree = agent_index.tree(root_id);
  return tree === undefined ? null : scopeOf(name, config, tree, (id) => agent_index.budget(id));
}

const TIME_OVER = 'budget "seconds" is used up: ask whoever created you for a new agent';

function used({ budget: { limit, spent, reserved } }: Scope, name: Dimension): string {
  const most = limit[name] ?? 0;
  const set_aside = reserved[name] > 0 ? ` and ${amountText(name, reserved[name])} set aside for agents` : '';
  const spent_text = name === 'tokens' ? spent.tokens.toLocaleString('en') : amountText(name, spent[name]);
  return `${spent_text} of ${amountText(name, most)} used${set_aside}`;
}

function subject({ agent_id }: Scope, name: Dimension): string {
  return agent_id === null ? `limit "${OPTIONS[name]}" of the tree` : `budget "${name}" of you and all below`;
}

const OPTIONS = { tokens: 'tokens', usd: 'cost' } as const;

function remedy({ agent_id, usual }: Scope, name: Dimension): string {
  return agent_id === null
    ? `${usual ? 'Nobody limited this tree, so it stops here and asks. ' : ''}To raise it and go on: coppice resume --limit ${OPTIONS[name]}=N${usual ? ', or =none for no limit' : ''}`
    : 'Its creator can give the rest of the work to another agent';
}
