import { amountText } from './budget.ts';

/** Usage of one agent that rests or has ended, excluding its descendants. */
export interface PastAgent {
  /** Counted as budgets count them: without cached input. */
  readonly tokens: number;
  /** US dollars; null: the price of the model is unknown. */
  readonly usd: number | null;
  /** Wall time from the start of its first request to the end of its last. */
  readonly seconds: number;
}

/** `usual`: the median. `most`: the 90th percentile. */
export interface Range {
  readonly usual: number;
  readonly most: number;
}

/** Expected usage of a new agent, based on past agents of the same kind. */
export interface Estimate {
  readonly agents: number;
  readonly tokens: Range;
  readonly usd: Range | null;
  readonly seconds: Range;
}

/** Agents with the same profile and model; null: no profile. */
export interface AgentKind {
  readonly profile: string | null;
  readonly model: string;
}

/** Minimum number of past agents for an estimate. */
const FEWEST = 3;

/** Null if there are too few past agents. */
export function estimateOf(past: readonly PastAgent[]): Estimate | null {
  if (past.length < FEWEST) return null;
  const priced = past.flatMap(({ usd }) => usd ?? []);
  return {
    agents: past.length,
    tokens: rangeOf(past.map(({ tokens }) => tokens)),
    usd: priced.length < FEWEST ? null : rangeOf(priced),
    seconds: rangeOf(past.map(({ seconds }) => seconds)),
  };
}

function rangeOf(values: readonly number[]): Range {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
  return { usual: at(0.5), most: at(0.9) };
}

/** `profile x with model y: about $0.04, 12,000 tokens, 30 s, nine of ten at most $0.2, 40,000 tokens, 95 s (18 agents)`. */
export function estimateText(kind: AgentKind, estimate: Estimate | null): string {
  if (estimate === null) return noHistory(kind);
  const { agents, tokens, usd, seconds } = estimate;
  const one = (of: keyof Range) =>
    [
      ...(usd === null ? [] : [amountText('usd', usd[of])]),
      amountText('tokens', tokens[of]),
      `${Math.round(seconds[of])} s`,
    ].join(', ');
  return `${kindText(kind)}: about ${one('usual')}, nine of ten at most ${one('most')} (${agents} agents)`;
}

/** Number of agents of one kind that a call would create. */
export interface PlannedAgents extends AgentKind {
  readonly count: number;
}

/** `3 agents; probably $0.12, 36,000 tokens (nine of ten at most $0.6, 120,000 tokens)`; kinds without history are listed as such. */
export function fanOutText(
  planned: readonly (PlannedAgents & { readonly estimate: Estimate | null })[],
): string {
  const all = planned.reduce((sum, { count }) => sum + count, 0);
  const known = planned.flatMap(({ count, estimate }) => (estimate === null ? [] : [{ count, ...estimate }]));
  const is_priced = known.every(({ usd }) => usd !== null);
  const amounts = (of: keyof Range) => {
    const tokens = known.reduce((sum, one) => sum + one.count * one.tokens[of], 0);
    const usd = known.reduce((sum, one) => sum + one.count * (one.usd?.[of] ?? 0), 0);
    return [...(is_priced ? [amountText('usd', usd)] : []), amountText('tokens', tokens)].join(', ');
  };
  const unknown = planned.filter(({ estimate }) => estimate === null).map(noHistory);
  return [
    all === 1 ? '1 agent' : `${all} agents`,
    ...(known.length === 0 ? [] : [`probably ${amounts('usual')} (nine of ten at most ${amounts('most')})`]),
    ...unknown,
  ].join('; ');
}

function noHistory(kind: AgentKind): string {
  return `no history for ${kindText(kind)}`;
}

function kindText({ profile, model }: AgentKind): string {
  return `${profile === null ? 'agents without a profile,' : `profile ${profile}`} with model ${model}`;
}
