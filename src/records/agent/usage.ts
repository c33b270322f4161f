/** Tokens of one model request, or the sum of many. `input` includes `cached`; `output` includes `reasoning`. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly reasoning: number;
  /** Present where the server reports no cache: the part of `input` that it was sent before, which no limit counts; null until that is known. */
  readonly resent?: number | null;
  /** US dollars; null where no price is known. */
  readonly cost_usd: number | null;
}

export const NO_USAGE: Usage = { input: 0, output: 0, cached: 0, reasoning: 0, cost_usd: null };

export function addUsage(a: Usage, b: Usage): Usage {
  const cost = a.cost_usd === null && b.cost_usd === null ? null : (a.cost_usd ?? 0) + (b.cost_usd ?? 0);
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cached: a.cached + b.cached,
    reasoning: a.reasoning + b.reasoning,
    cost_usd: cost,
  };
}
