import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { cutText } from '../../records/text/cut-text.ts';
import type { ModelRequest } from '../model.ts';
import type { Quirks } from './provider-config.ts';

/** Options of a provider package besides the conversation. */
export function callOptions(
  { tools, thinking, cache_key }: ModelRequest,
  { toolDescriptionMax = Number.POSITIVE_INFINITY }: Quirks = {},
): Omit<LanguageModelV4CallOptions, 'prompt'> {
  return {
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description: text, input: inputSchema }) => ({
        type: 'function' as const,
        ...{ name, description: cutText(text, toolDescriptionMax, '…'), inputSchema },
      })),
    }),
    // Nothing is stored at the provider, since conversations live in our ledger. The package then requests
    // encrypted reasoning by itself, and only from reasoning models.
    providerOptions: {
      openai: {
        store: false,
        ...(cache_key === undefined ? {} : { promptCacheKey: cache_key }),
      },
    },
    // `off` sends nothing: models without reasoning refuse any setting.
    ...(thinking === 'off' ? {} : { reasoning: thinking }),
  };
}
