import * as z from 'zod';
import { NO_USAGE, type Usage } from '../../records/agent/usage.ts';

const count = z.number().nonnegative().nullish();

/** Tokens of one prompt: in the protocol's draft and sent by programs, but not yet in the stable protocol. */
const reported = z.object({
  usage: z.object({
    inputTokens: z.number().nonnegative(),
    outputTokens: z.number().nonnegative(),
    totalTokens: count,
    cachedReadTokens: count,
    cachedWriteTokens: count,
    thoughtTokens: count,
  }),
});

/** The form of Gemini CLI. */
const counted = z.object({
  _meta: z.object({
    quota: z.object({
      token_count: z.object({
        input_tokens: z.number().nonnegative(),
        output_tokens: z.number().nonnegative(),
      }),
    }),
  }),
});

/** Usage reported with a prompt's answer; zeros if absent. `cost_usd`: cost of this prompt, null if unknown. */
export function usageOf(response: unknown, cost_usd: number | null): Usage {
  const parsed = reported.safeParse(response);
  if (!parsed.success) {
    const other = counted.safeParse(response);
    if (!other.success) return { ...NO_USAGE, cost_usd };
    const { input_tokens, output_tokens } = other.data._meta.quota.token_count;
    return { ...NO_USAGE, input: input_tokens, output: output_tokens, cost_usd };
  }
  const { inputTokens, outputTokens, totalTokens, cachedReadTokens, cachedWriteTokens, thoughtTokens } =
    parsed.data.usage;
  const cached = cachedReadTokens ?? 0;
  const kept = cached + (cachedWriteTokens ?? 0);
  // Some programs exclude cached tokens from the input; the total shows which.
  const beside = (totalTokens ?? 0) >= inputTokens + outputTokens + kept;
  return {
    input: beside ? inputTokens + kept : inputTokens,
    output: outputTokens,
    cached: Math.min(cached, beside ? inputTokens + kept : inputTokens),
    reasoning: Math.min(thoughtTokens ?? 0, outputTokens),
    cost_usd,
  };
}

const cost = z.object({ cost: z.object({ amount: z.number().nonnegative(), currency: z.literal('USD') }) });

/** Cost of the session so far in US dollars, from a `usage_update`; null if absent. */
export function sessionCost(update: unknown): number | null {
  const parsed = cost.safeParse(update);
  return parsed.success ? parsed.data.cost.amount : null;
}
