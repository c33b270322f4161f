import * as z from 'zod';
import type { Usage } from '../../records/agent/usage.ts';
import { costOf } from '../provider/prices.ts';
import type { Price } from '../provider/provider-config.ts';

/** Tokens as programs report them: the ledger stores whole numbers. */
const tokens = z.number().nonnegative().max(Number.MAX_SAFE_INTEGER).transform(Math.round);
const count = tokens.nullish();

/** Tokens of one prompt: in the protocol's draft and sent by programs, but not yet in the stable protocol. */
const reported = z.object({
  usage: z.object({
    inputTokens: tokens,
    outputTokens: tokens,
    totalTokens: count,
    cachedReadTokens: count,
    cachedWriteTokens: count,
    thoughtTokens: count,
  }),
});

/** The format of Gemini CLI. */
const counted = z.object({
  _meta: z.object({
    quota: z.object({
      token_count: z.object({
        input_tokens: tokens,
        output_tokens: tokens,
      }),
    }),
  }),
});

/**
 * Usage reported with a prompt's answer; zeros if absent. `told_usd`: the cost of this prompt that the program reports, or null. A configured price takes
 * precedence: many programs report a cost of zero for models that they do not know.
 */
export function usageOf(response: unknown, told_usd: number | null, price: Price | undefined): Usage {
  const { written, ...tokens } = tokensOf(response);
  const cost_usd = price === undefined ? told_usd : costOf({ ...tokens, written }, price);
  return { ...tokens, cost_usd };
}

type Tokens = Omit<Usage, 'cost_usd'> & { readonly written: number };

function tokensOf(response: unknown): Tokens {
  const parsed = reported.safeParse(response);
  if (!parsed.success) {
    const none = { input: 0, output: 0, cached: 0, reasoning: 0, written: 0 };
    const other = counted.safeParse(response);
    if (!other.success) return none;
    const { input_tokens, output_tokens } = other.data._meta.quota.token_count;
    return { ...none, input: input_tokens, output: output_tokens };
  }
  const { inputTokens, outputTokens, totalTokens, cachedReadTokens, cachedWriteTokens, thoughtTokens } =
    parsed.data.usage;
  const cached = cachedReadTokens ?? 0;
  const written = cachedWriteTokens ?? 0;
  const kept = cached + written;
  // Some programs exclude cached tokens from the input; the total shows whether this one does.
  const beside = (totalTokens ?? 0) >= inputTokens + outputTokens + kept;
  const input = beside ? inputTokens + kept : inputTokens;
  return {
    input,
    output: outputTokens,
    cached: Math.min(cached, input),
    reasoning: Math.min(thoughtTokens ?? 0, outputTokens),
    written: Math.min(written, input),
  };
}

const cost = z.object({ cost: z.object({ amount: z.number().nonnegative(), currency: z.literal('USD') }) });

/** Cost of the session so far in US dollars, from a `usage_update`; null if absent. */
export function sessionCost(update: unknown): number | null {
  const parsed = cost.safeParse(update);
  return parsed.success ? parsed.data.cost.amount : null;
}
