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

/** Returns null for an unknown model: its provider is not asked. */
export function usualWindow(type: ProviderConfig['type'], model: string): number | null {
  return WINDOWS[type]?.find(([family]) => family.test(model))?.[1] ?? null;
}
