import { amountText } from './budget.ts';

/** What one agent used that rests or has ended, without those below it. */
export interface PastAgent {
  /** As budgets count them. */
  readonly tokens: number;
  /** Null: the price of its model is unknown. */
  readonly usd: number | null;
  /** From its first request to the end of its last. */
  readonly seconds: number;
}

/** `usual`: the median. `most`: nine of ten used at most that. */
export interface Range {
  readonly usual: number;
  readonly most: number;
}

/** What an agent will probably use, by what others used. */
export interface Estimate {
  /** How many that were. */
  readonly agents: number;
  readonly tokens: Range;
  readonly usd: Range | null;
  readonly seconds: Range;
}

/** The same profile and the same model; null: no profile. */
export interface AgentKind {
  readonly profile: string | null;
  readonly model: string;
}

/** Of fewer nothing can be told. */
const FEWEST = 3;

/** Null: too few. */
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

/** `profile x with model y: about $0.04, 12,000 tokens, 30 s, nine of ten at most $0.2, 40,000 tokens, 95 s (18 agents)`; `count`: that many are created. */
export function estimateText(kind: AgentKind, estimate: Estimate | null, count = 1): string {
  const { profile, model } = kind;
  const of_kind = `${profile === null ? 'agents without a profile,' : `profile ${profile}`} with model ${model}`;
  if (estimate === null) return `no history for ${of_kind}`;
  const { agents, tokens, usd, seconds } = estimate;
  const amounts = (of: keyof Range, times: number) => [
    ...(usd === null ? [] : [amountText('usd', usd[of] * times)]),
    amountText('tokens', tokens[of] * times),
  ];
  const one = (of: keyof Range) => [...amounts(of, 1), `${Math.round(seconds[of])} s`].join(', ');
  const all = count === 1 ? '' : `; all ${count} about ${amounts('usual', count).join(', ')}`;
  const each = count === 1 ? '' : ' each';
  return `${of_kind}: about ${one('usual')}${each}, nine of ten at most ${one('most')}${all} (${agents} agents)`;
}
