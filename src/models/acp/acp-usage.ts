import * as z from 'zod';
import { NO_USAGE, type Usage } from '../../records/agent/usage.ts';

const count = z.number().nonnegative().nullish();

/** Tokens of one prompt. The protocol's draft has them and programs send them; the stable protocol does not know them yet. */
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

/** Where Gemini CLI puts it. */
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

/** What the answer to a prompt says about its tokens; zeros when it says nothing. `cost_usd`: of this prompt, null when unknown. */
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
  // Some programs count what came from the cache beside the input; the total tells.
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

/** US dollars of the whole session so far, from a `usage_update`; null when it names none. */
export function sessionCost(update: unknown): number | null {
  const parsed = cost.safeParse(update);
  return parsed.success ? parsed.data.cost.amount : null;
}
