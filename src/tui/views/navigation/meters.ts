import type { Agent } from '../../../records/agent/agent.ts';
import { isWorking } from '../../../records/agent/state.ts';
import type { Usage } from '../../../records/agent/usage.ts';
import { count, duration } from '../../../render/amounts.ts';
import type { UiStyle } from '../../../render/style.ts';
import { paneOf, rootOf, type UiState } from '../../state/ui-state.ts';
import { mindOf } from '../agent-summary.ts';

/** Which meters are shown; `tui.meters` of the configuration. */
export interface MeterSettings {
  readonly context: boolean;
  readonly tokens: boolean;
  readonly cost: boolean;
  readonly elapsed: boolean;
  /** Remaining budgets, once less than half is left. */
  readonly budget: boolean;
  /** The context window of a model in tokens; null if unknown. */
  readonly windowOf: (model: string) => number | null;
}

export const ALL_METERS: MeterSettings = {
  context: true,
  tokens: true,
  cost: true,
  elapsed: true,
  budget: true,
  windowOf: () => null,
};

/**
 * Usage of the tree, as texts of the navigation line: model and context of the agent in view, this turn, all turns, and what is left of budgets.
 * `detail` goes from `model`, which shows everything, to `cost`, which shows only the cost of all turns and what is left.
 */
export function meters(
  state: UiState,
  total: Usage,
  shown: MeterSettings,
  detail: 'words' | 'model' | 'all' | 'some' | 'cost',
  style: UiStyle,
): readonly string[] {
  const sums =
    detail === 'cost' ? amounts(total, { ...shown, tokens: false }, style) : amounts(total, shown, style);
  const agent = state.view === null ? undefined : state.agents.get(state.view);
  const all = [
    agent !== undefined && (detail === 'model' || detail === 'words') ? mindOf(state, agent).join(' ') : '',
    detail === 'cost' ? '' : contextMeter(state, agent, shown),
    detail !== 'some' && detail !== 'cost' ? turnMeter(state, total, shown, style) : '',
    sums === '' || !style.accessible ? sums : `${sums} in all`,
    ...budgetMeters(state, shown, style),
  ];
  return all.filter((text) => text !== '');
}

/** `context 34%`, or how many tokens the newest request of the agent in view took. */
function contextMeter(state: UiState, agent: Agent | undefined, shown: MeterSettings): string {
  const used = agent === undefined ? null : paneOf(state, agent.id).request_tokens;
  if (agent === undefined || used === null || !shown.context) return '';
  const window = shown.windowOf(agent.config.model);
  return `context ${window === null ? count(used) : `${Math.round((100 * used) / window)}%`}`;
}

function turnMeter(state: UiState, total: Usage, shown: MeterSettings, style: UiStyle): string {
  const { turn } = state;
  if (turn === null) return '';
  const { before } = turn;
  const is_first = before.input + before.output === 0;
  const used: Usage = {
    ...total,
    input: total.input - before.input,
    output: total.output - before.output,
    cost_usd: total.cost_usd === null ? null : total.cost_usd - (before.cost_usd ?? 0),
  };
  const root = rootOf(state);
  const end = root !== undefined && isWorking(root.state.type) ? state.now : turn.seen_at;
  // In accessible mode no clock ticks.
  const elapsed = shown.elapsed && !style.accessible ? duration(end - turn.began_at) : '';
  // The amounts of the first turn are left out: they equal the total.
  const told = [is_first ? '' : amounts(used, shown, style), elapsed].filter((text) => text !== '');
  return told.length === 0 ? '' : `turn ${told.join(' ')}`;
}

/** `$0.85 left` of the tree; `own 12k left` of the budget of the agent in view, or `branch 12k left` of an agent above it. */
function budgetMeters({ root_id, view, budgets }: UiState, shown: MeterSettings, style: UiStyle): string[] {
  if (!shown.budget) return [];
  return budgets.flatMap(({ agent_id, usd, tokens }) => {
    if (agent_id !== root_id && agent_id !== view) return [];
    const isShown = ({ holder, left, limit }: typeof usd) =>
      left !== null && limit !== null && 2 * left < limit && (holder === root_id) === (agent_id === root_id);
    const low = [tokens, usd].filter(isShown);
    if (low.length === 0) return [];
    const told = low.map((scope) => {
      const left = scope.left ?? 0;
      if (scope === usd) return `$${left.toFixed(left < 0.1 ? 3 : 2)}`;
      return `${count(left)}${style.accessible ? ' tokens' : ''}`;
    });
    const is_own = low.some(({ holder }) => holder === agent_id);
    const whose = agent_id === root_id ? '' : is_own ? 'own ' : 'branch ';
    return [`${whose}${told.join(' ')} left`];
  });
}

function amounts({ input, output, cost_usd }: Usage, shown: MeterSettings, style: UiStyle): string {
  const tokens = input + output;
  const told = [
    shown.tokens && tokens > 0 ? `${count(tokens)}${style.accessible ? ' tokens' : ''}` : '',
    shown.cost && cost_usd !== null ? `$${cost_usd.toFixed(2)}` : '',
  ];
  return told.filter((text) => text !== '').join(' ');
}
