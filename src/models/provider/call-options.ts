import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { ModelRequest } from '../model.ts';

/** What a provider package is asked with besides the conversation. `summarised`: whether summaries of reasoning may be asked for. */
export function callOptions(
  { tools, thinking, cache_key }: ModelRequest,
  summarised = true,
): Omit<LanguageModelV4CallOptions, 'prompt'> {
  return {
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map((tool) => ({
            type: 'function' as const,
            name: tool.name,
            description: tool.description,
            inputSchema: tool.input,
          })),
        }),
    // Conversations live in our ledger, not in the provider's: a fork must be readable on its own. The package then asks for
    // sealed reasoning by itself, and only from models that reason.
    providerOptions: {
      openai: {
        store: false,
        ...(cache_key === undefined ? {} : { promptCacheKey: cache_key }),
        ...(summarised ? {} : { reasoningSummary: null }),
      },
    },
    // `off` asks for nothing: models without reasoning would refuse any setting.
    ...(thinking === 'off' ? {} : { reasoning: thinking }),
  };
}
