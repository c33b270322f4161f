import type { ModelOutcome } from '../../models/model.ts';
import { type Agent, isAgentProgram } from '../../records/agent/agent.ts';
import {
  amountText,
  DIMENSIONS,
  type Dimension,
  type Scope,
  scopeOf,
  TOLERANCE,
  timeBudgetEnd,
  WARNED_AT,
} from '../../records/agent/budget.ts';
import { DEFAULT_LIMITS, namedLimit } from '../../records/agent/limits.ts';
import type { PlacedMessage } from '../../records/conversation/message.ts';
import type { AgentIndex } from './agent-index.ts';
import type { Cell } from './cell.ts';
import type { Charged } from './requests-in-flight.ts';

/*
 * Decides whether an agent may send another model request (docs/budgets.md). The sums are those of the commit that led
 * to the request, so they are as recent as the ledger; this process's requests in flight are added. Laws:
 * B1. At most one request of an agent exceeds its budget: the one whose answer passed it is its last, and where that is foreseeable, it is asked to finish.
 * B2. A turn that begins when nothing is left sends no request.
 * B3. A prompt of an agent program may run for hours: it is aborted when any answer passes the budget that it is charged to.
 * B4. A script's own requests cost nothing, so it goes on when nothing is left, and is told: it may end, and starts no agent.
 */

/** `charged`: null if nothing limits the agent. `stop`: no request is sent. `last`: what is left suffices for one answer. `tell`: the agent is warned. `used_up`: see B4. */
export type BudgetVerdict = { readonly reached?: Reached | undefined } & (
  | { readonly type: 'go'; readonly charged: Charged | null; readonly used_up?: string }
  | { readonly type: 'stop' | 'last' | 'tell'; readonly text: string }
);

/** A limit of the tree that is used up, which a person may raise. */
export interface Reached {
  readonly limit: 'tokens' | 'cost_usd' | 'turns';
  readonly used: string;
}

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
  let reached: Reached | undefined;
  const is_script = config.workflow !== undefined;
  for (const name of DIMENSIONS) {
    const scope = scopeFor(agent, name, agent_index);
    const limit = scope?.budget.limit[name] ?? null;
    if (scope === null || limit === null || (scope.usual && cell.is_free && !is_script)) continue;
    const { spent, reserved } = scope.budget;
    charged[name] = scope.agent_id ?? root_id;
    const gone = spent[name] + reserved[name] + TOLERANCE;
    if (is_script && spent[name] + TOLERANCE < limit) continue;
    if (is_script)
      return {
        type: 'go',
        charged: null,
        reached: reachedOf(scope, name),
        used_up: reachedText(scope, name),
      };
    if (gone >= limit && (turn.requests === 0 || cell.overspent))
      return {
        type: 'stop',
        reached: reachedOf(scope, name),
        text: reachedText(scope, name),
      };
    const asked = in_flight.of(charged[name])[name];
    if (gone + asked + 2 * usual[name] > limit + 2 * TOLERANCE) {
      reached ??= reachedOf(scope, name);
      last ??= reachedText(scope, name, gone < limit ? ', and the rest suffices for one answer' : '');
    }
    if (gone >= WARNED_AT * limit)
      tell ??= `${subject(scope, name)}: ${used(scope, name)}. Finish before it is used up.`;
  }
  if (turn.grace !== null || turn.requests === 0) last = null;
  if (last !== null) return { type: 'last', text: last, reached };
  if (tell !== null && !cell.warned && turn.grace === null) return { type: 'tell', text: tell };
  if (is_script) return { type: 'go', charged: null };
  const { turns } = agent_index.tree(root_id)?.limits ?? DEFAULT_LIMITS;
  // The next request would be the last one that may call tools.
  const is_last = turn.requests > 0 && turn.requests === turns - 1 && turn.grace === null;
  reached = is_last
    ? { limit: 'turns', used: `${turns} model requests of one turn are nearly used` }
    : undefined;
  return { type: 'go', charged: cell.is_free && config.budgets === undefined ? null : charged, reached };
}

/** Whether a budget of the agent has been exceeded, as of the newest commit. */
export function isOverspent(agent: Agent, agent_index: AgentIndex): boolean {
  return passedBudget(agent, agent_index) !== null;
}

/** A text about an exceeded budget of the agent; null if there is none. */
function passedBudget(agent: Agent, agent_index: AgentIndex): string | null {
  for (const name of DIMENSIONS) {
    const scope = scopeFor(agent, name, agent_index);
    const limit = scope?.budget.limit[name] ?? null;
    if (scope === null || limit === null) continue;
    const { spent, reserved } = scope.budget;
    if (spent[name] + reserved[name] > limit + TOLERANCE) return reachedText(scope, name);
  }
  return null;
}

/** Abort reason of an agent program's prompt: a budget was exceeded. */
class BudgetPassed extends Error {}

/** Called after the commit of an agent's answer. If the answer exceeded a budget, it was the last one, and prompts charged to that budget are aborted (B3). */
export function noteSpending(cell: Cell, cells: ReadonlyMap<string, Cell>, agent_index: AgentIndex): void {
  cell.overspent = isOverspent(cell.agent, agent_index);
  if (!cell.overspent) return;
  for (const member of agent_index.members(cell.agent.root_id)) {
    const request = isAgentProgram(member.config.model) ? cells.get(member.id)?.request : null;
    if (!request) continue;
    const passed = passedBudget(member, agent_index);
    if (passed !== null) request.abort(new BudgetPassed(passed));
  }
}

/** Turns an abort by a budget into a failure of the kind `limit`. */
export function promptOutcome(outcome: ModelOutcome, { reason }: AbortSignal): ModelOutcome {
  if (outcome.type !== 'aborted' || !(reason instanceof BudgetPassed)) return outcome;
  return { ...outcome, type: 'failure', failure: { kind: 'limit', error: reason.message, retryable: true } };
}

/** Whether the agent was warned in an earlier process. */
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

const TIME_OVER = 'budget "seconds" is used up: ask your creator for a new agent';

function used({ budget: { limit, spent, reserved } }: Scope, name: Dimension): string {
  const most = limit[name] ?? 0;
  const set_aside = reserved[name] > 0 ? ` and ${amountText(name, reserved[name])} set aside for agents` : '';
  const spent_text = name === 'tokens' ? spent.tokens.toLocaleString('en') : amountText(name, spent[name]);
  return `${spent_text} of ${amountText(name, most)} used${set_aside}`;
}

function reachedOf(scope: Scope, name: Dimension): Reached | undefined {
  const limit = name === 'usd' ? 'cost_usd' : 'tokens';
  return scope.agent_id === null ? { limit, used: used(scope, name) } : undefined;
}

function subject({ agent_id }: Scope, name: Dimension): string {
  return agent_id === null
    ? `limit "${OPTIONS[name]}" of the tree`
    : `budget "${name}" for you and the agents below you`;
}

const OPTIONS = { tokens: 'tokens', usd: 'cost' } as const;

/** `namedLimit` reads it. */
function reachedText(scope: Scope, name: Dimension, more = ''): string {
  const text = `${subject(scope, name)} reached: ${used(scope, name)}${more}`;
  if (scope.agent_id !== null) return `${text}. Its creator can give the rest of the work to another agent`;
  const raise = `A person can raise it (--limit ${namedLimit(text)?.raised})`;
  if (!scope.usual) return `${text}. ${raise}`;
  return `${text}. No limit was set for this tree, so the default limit applies (--limit ${OPTIONS[name]}=none lifts it). ${raise}`;
}
