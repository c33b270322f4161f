import type { ProviderConfig } from './provider-config.ts';

/**
 * Context windows of model families in tokens, input and output together, as of January 2026, the most specific pattern first.
 * `providers.NAME.models.MODEL.contextWindow` of the configuration takes precedence.
 */
const WINDOWS: Readonly<Partial<Record<ProviderConfig['type'], readonly (readonly [RegExp, number])[]>>> = {
  anthropic: [[/^claude-/, 200_000]],
  openai: [
    [/^gpt-5/, 400_000],
    [/^gpt-4\.1/, 1_047_576],
    [/^gpt-4o/, 128_000],
    [/^o[134](?:-|$)/, 200_000],
  ],
  google: [[/^gemini-[23]/, 1_048_576]],
};

/** Match "maximum context length is 8192 tokens", "210000 tokens > 200000 maximum", "exceeds the maximum number of tokens allowed (1048576)". */
const NAMED = [
  /> *([\d,]{4,})/,
  /(?:maximum|limit|window)[^\d.]{0,60}([\d,]{4,})/i,
  /([\d,]{4,}) *tokens? *(?:maximum|limit)/i,
];

/** The window that a provider states when it refuses a conversation as too long; null if it states none. */
export function namedWindow(refusal: string): number | null {
  const named = NAMED.map((pattern) => pattern.exec(refusal)?.[1]).find((found) => found !== undefined);
  return named === undefined ? null : Number(named.replaceAll(',', ''));
}

/** Returns null for an unknown model: its provider is not asked. */
export function usualWindow(type: ProviderConfig['type'], model: string): number | null {
  return WINDOWS[type]?.find(([family]) => family.test(model))?.[1] ?? null;
}
