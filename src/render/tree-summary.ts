import type { Tree } from '../records/agent/agent.ts';
import { isWorking } from '../records/agent/state.ts';
import { counted } from '../records/text/text.ts';
import { doingNow, type ShownAgent } from './agent-tree.ts';
import { count, duration } from './amounts.ts';
import { clean } from './clean.ts';

/** Usage of a tree's deleted agents, which still counts against its limits. */
export interface DeletedUse {
  readonly agents: number;
  readonly tokens: number;
  readonly cost_usd: number;
}

const NONE: DeletedUse = { agents: 0, tokens: 0, cost_usd: 0 };

/** Usage in the tree's counters beyond that of `agents`, which must be all agents that it still has. */
export function deletedUse(
  tree: Pick<Tree, 'total' | 'tokens' | 'cost_usd'> | null,
  agents: readonly ShownAgent[],
): DeletedUse {
  if (tree === null || tree.total <= agents.length) return NONE;
  const cost_usd = agents.reduce((sum, agent) => sum + (agent.cost_usd ?? 0), 0);
  return {
    agents: tree.total - agents.length,
    tokens: Math.max(0, tree.tokens - tokensOf(agents)),
    // Floating-point sums differ in the last digit.
    cost_usd: tree.cost_usd - cost_usd > 1e-9 ? tree.cost_usd - cost_usd : 0,
  };
}

function tokensOf(agents: readonly ShownAgent[]): number {
  return agents.reduce((sum, { tokens }) => sum + tokens.input + tokens.output, 0);
}

/** What agents wait for other than each other, one line for each reason. `now`: absent for the lines as they began. */
export function waitLines(agents: readonly ShownAgent[], now?: number): readonly string[] {
  const asks = agents.reduce((sum, { open_approvals = 0 }) => sum + open_approvals, 0);
  const waiting = `${counted(asks, 'approval waits', 'approvals wait')} (coppice approvals)`;
  const held = new Map<string, string>();
  for (const agent of agents)
    if (agent.paused != null) held.set(agent.outcome_text, clean(agent.outcome_text));
    else if (agent.held != null)
      held.set(
        agent.held.text.replace(/\d+ s/, ''),
        clean(now === undefined ? agent.held.text : doingNow(agent, now)),
      );
  return [...(asks === 0 ? [] : [waiting]), ...held.values()];
}

/** One line about all agents: how many work and what they have used so far. `led`: whether a process leads them. */
export function summary(
  agents: readonly ShownAgent[],
  started_at: number,
  now: number,
  { deleted = NONE, led = true }: { readonly deleted?: DeletedUse | undefined; readonly led?: boolean } = {},
): string {
  const working = led ? agents.filter(({ state, paused }) => isWorking(state) && paused == null).length : 0;
  const tokens = tokensOf(agents) + deleted.tokens;
  const calls = agents.reduce((sum, agent) => sum + agent.tool_calls, 0);
  const costs = [
    ...agents.flatMap((agent) => agent.cost_usd ?? []),
    ...(deleted.cost_usd > 0 ? [deleted.cost_usd] : []),
  ];
  const gone = deleted.agents === 0 ? '' : `, ${deleted.agents} deleted`;
  const cost = costs.length === 0 ? '' : `, $${costs.reduce((sum, one) => sum + one, 0).toFixed(4)}`;
  return `${counted(agents.length, 'agent')}${gone}, ${working} at work, ${counted(calls, 'call')}, ${count(tokens)} tokens${cost}, ${duration(now - started_at)}`;
}
