import * as z from 'zod';
import type { Usage } from '../../records/agent/usage.ts';
import { costOf } from '../provider/prices.ts';
import type { Price } from '../provider/provider-config.ts';

/** Tokens as programs report them: the ledger stores whole numbers. What is no count is not reported. */
const count = z
  .number()
  .nonnegative()
  .max(Number.MAX_SAFE_INTEGER)
  .transform(Math.round)
  .nullish()
  .catch(null);

/** Tokens of one prompt: in the protocol's draft and sent by programs, but not yet in the stable protocol. */
const usage = z.object({
  inputTokens: count,
  outputTokens: count,
  totalTokens: count,
  cachedReadTokens: count,
  cachedWriteTokens: count,
  thoughtTokens: count,
});
const reported = z.object({ usage });
/** Qwen Code tells them of each of its requests, with an update. */
const qwenUpdate = z.object({ _meta: reported });
/** The format of Gemini CLI. */
const counted = z.object({
  _meta: z.object({
    quota: z.object({ token_count: z.object({ input_tokens: count, output_tokens: count }) }),
  }),
});

export type AcpTokens = Omit<Usage, 'cost_usd' | 'resent'> & { readonly written: number };

/** Characters of one token, for programs that report none. */
const CHARACTERS = 4;

/** Tokens reported with a prompt's answer; null if there are none. */
export function tokensOf(response: unknown): AcpTokens | null {
  const parsed = reported.safeParse(response);
  if (parsed.success) return of(parsed.data.usage);
  const other = counted.safeParse(response);
  if (!other.success) return null;
  const { input_tokens: inputTokens, output_tokens: outputTokens } = other.data._meta.quota.token_count;
  return of({ inputTokens, outputTokens });
}

/** Tokens reported with an update of a session, added to those before; `before` if there are none. */
export function addTokens(before: AcpTokens | null, update: unknown): AcpTokens | null {
  const parsed = qwenUpdate.safeParse(update);
  const more = parsed.success ? of(parsed.data._meta.usage) : null;
  if (before === null || more === null) return more ?? before;
  const sum = (key: keyof AcpTokens) => before[key] + more[key];
  return {
    ...{ input: sum('input'), output: sum('output'), cached: sum('cached') },
    ...{ reasoning: sum('reasoning'), written: sum('written') },
  };
}

/** At least what a prompt takes whose program reports nothing, so that limits bind all the same. */
export function estimatedTokens(sent: number, received: number): AcpTokens {
  const [input, output] = [sent, received].map((characters) => Math.ceil(characters / CHARACTERS)) as [
    number,
    number,
  ];
  return { input, output, cached: 0, reasoning: 0, written: 0 };
}

/**
 * `told_usd`: the cost of this prompt that the program reports, or null. A configured price takes precedence: many programs report a cost of zero for models
 * that they do not know.
 */
export function usageOf(
  { written, ...tokens }: AcpTokens,
  told_usd: number | null,
  price: Price | undefined,
): Usage {
  return { ...tokens, cost_usd: price === undefined ? told_usd : costOf({ ...tokens, written }, price) };
}

function of(said: Partial<z.infer<typeof usage>>): AcpTokens | null {
  const { inputTokens, outputTokens, totalTokens, cachedReadTokens, cachedWriteTokens, thoughtTokens } = said;
  const [given, output] = [inputTokens ?? 0, outputTokens ?? 0];
  if (given + output === 0) return null;
  const [cached, written] = [cachedReadTokens ?? 0, cachedWriteTokens ?? 0];
  const kept = cached + written;
  // Some programs exclude cached tokens from the input; the total shows whether this one does.
  const input = (totalTokens ?? 0) >= given + output + kept ? given + kept : given;
  return {
    ...{ input, output, cached: Math.min(cached, input), written: Math.min(written, input) },
    reasoning: Math.min(thoughtTokens ?? 0, output),
  };
}

const cost = z.object({ cost: z.object({ amount: z.number().nonnegative(), currency: z.literal('USD') }) });

/** Cost of the session so far in US dollars, from a `usage_update`; null if absent. */
export function sessionCost(update: unknown): number | null {
  const parsed = cost.safeParse(update);
  return parsed.success ? parsed.data.cost.amount : null;
}
