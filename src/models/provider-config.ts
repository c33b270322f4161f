import { z } from 'zod';

const price = z.strictObject({
  /** US dollars per million tokens. */
  input: z.number().nonnegative(),
  output: z.number().nonnegative(),
  cached: z.number().nonnegative().optional(),
});

/** One entry of `providers` in the configuration. */
export const providerConfig = z.strictObject({
  type: z.enum(['anthropic', 'openai', 'google', 'openai-compatible']),
  baseURL: z.url().optional(),
  /** Name of the environment variable that holds the key; none for servers that want none. */
  apiKeyEnv: z.string().min(1).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  /** Model requests at once to this provider; default 8. */
  maxConcurrent: z.int().positive().optional(),
  models: z
    .record(
      z.string(),
      z.strictObject({ contextWindow: z.int().positive().optional(), price: price.optional() }),
    )
    .optional(),
});

export type ProviderConfig = z.infer<typeof providerConfig>;
export type Price = z.infer<typeof price>;
