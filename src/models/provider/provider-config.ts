import * as z from 'zod';
import type { DeepReadonly } from '../../records/deep-readonly.ts';
import { TIMEOUT_SECONDS_MAX } from '../../records/text/parse-duration.ts';

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

/** What a server does not take. It is learnt from its refusals, too (docs/providers.md#what-a-server-does-not-take). */
export const quirks = z.strictObject({
  /** Paths of fields that are left out of requests: `stream_options`, `reasoning.summary`, `messages.reasoning_content`. */
  omit: z.array(z.string().min(1)).optional(),
  /** Whether a message of the user may follow results directly; default true. */
  userAfterResults: z.boolean().optional(),
  /** Whether messages may have the role `system`; default true. If not, the instructions begin the first message of the user. */
  systemRole: z.boolean().optional(),
  /** Maximum characters of the description of a tool; longer ones are cut. */
  toolDescriptionMax: z.int().positive().optional(),
});

const pause = z.number().positive().max(TIMEOUT_SECONDS_MAX);

export const providerConfig = z.strictObject({
  type: z.enum(['anthropic', 'openai', 'google', 'openai-compatible']),
  baseURL: z
    .url({ protocol: /^https?$/, error: 'an address that begins with http:// or https:// is expected' })
    .optional(),
  /** Name of the environment variable with the key; absent for servers without keys. */
  apiKeyEnv: z.string().min(1).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  /** Maximum concurrent requests to a model of this provider; it may take fewer. */
  maxConcurrent: z.int().positive().optional(),
  /** Whether forks that begin together wait until the first one's answer has begun, because the others are cheaper then. */
  siblingsWait: z.boolean().optional(),
  /** Pauses between tries of a provider that takes no requests and names no time, in seconds: the first one, and the longest. */
  probeSeconds: z.strictObject({ first: pause, most: pause }).optional(),
  quirks: quirks.optional(),
  models: z
    .record(
      z.string(),
      z.strictObject({
        contextWindow: z.int().positive().optional(),
        price: price.optional(),
        quirks: quirks.optional(),
      }),
    )
    .optional(),
});

/** What was learnt of a server; also the tools that it refused, which `doctor` shows and every process tries anew. */
export const learntQuirks = quirks.extend({ refusedTools: z.array(z.string()).optional() });

export type Quirks = DeepReadonly<z.infer<typeof learntQuirks>>;
export type ProviderConfig = DeepReadonly<z.infer<typeof providerConfig>>;
export type Price = z.infer<typeof price>;

/** What requests to models add to the address of an API, and people copy along with it (docs/providers.md). */
const ENDPOINT: Readonly<Record<ProviderConfig['type'], RegExp>> = {
  anthropic: /\/messages$/,
  google: /\/models$/,
  openai: /\/responses$/,
  'openai-compatible': /\/chat\/completions$/,
};
const ENDS = /\/+$/;

/** An address apart from its query (`?api-version=…`), which every request carries; the part behind `#` is never sent. */
export function splitQuery(address: string): { readonly base: string; readonly query: string } {
  const [, base = '', query = ''] = /^([^?#]*)(\?[^#]*)?/.exec(address) ?? [];
  return { base: base.replace(ENDS, ''), query };
}

/** The address of an API as people have it at hand: with a slash at its end, or that of an endpoint. `path` is added if it does not end with it. */
export function apiAddress(type: ProviderConfig['type'], written: string, path = ''): string {
  const { base, query } = splitQuery(written);
  const api = base.replace(ENDPOINT[type], '').replace(ENDS, '');
  return (api.endsWith(path) ? api : api + path) + query;
}

/** An address that a provider's package made from its `base`, with the query. */
export function withQuery(url: string, query: string): string {
  return url.includes('?') ? url + query.replace('?', '&') : url + query;
}
