import * as z from 'zod';

const dollars = z.number().nonnegative();

/** US dollars per million tokens; `cached` is input read from a cache, `cacheWrite` input written to one. */
export const price = z.strictObject({
  input: dollars,
  output: dollars,
  cached: dollars.optional(),
  cacheWrite: dollars.optional(),
  /** Prices of requests with more than `over` input tokens. */
  long: z
    .strictObject({ over: z.int().positive(), input: dollars, output: dollars, cached: dollars.optional() })
    .optional(),
});

/** One entry of `providers` in the configuration. */
export const providerConfig = z.strictObject({
  type: z.enum(['anthropic', 'openai', 'google', 'openai-compatible']),
  baseURL: z.url().optional(),
  /** Name of the environment variable with the key; absent for servers without keys. */
  apiKeyEnv: z.string().min(1).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  /** Maximum concurrent model requests to this provider; default 8. */
  maxConcurrent: z.int().positive().optional(),
  /** Whether forks that begin together wait until the first one's answer has begun, because the others are cheaper then. */
  siblingsWait: z.boolean().optional(),
  models: z
    .record(
      z.string(),
      z.strictObject({ contextWindow: z.int().positive().optional(), price: price.optional() }),
    )
    .optional(),
});

export type ProviderConfig = z.infer<typeof providerConfig>;
export type Price = z.infer<typeof price>;
