import type { LanguageModelV4 } from '@ai-sdk/provider';
import { CoppiceError } from '../records/coppice-error.ts';
import type { ProviderConfig } from './provider/provider-config.ts';
import type { Ask } from './provider/provider-model.ts';
import { wireAsk } from './wire/wire-model.ts';
import type { WireProtocol } from './wire/wire-protocol.ts';

export interface Reach {
  readonly type: ProviderConfig['type'];
  readonly provider: string;
  readonly model: string;
  readonly key: string | null;
  readonly base_url: string | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** Idle time after which an answer counts as broken. */
  readonly idle_ms: number;
}

/**
 * Chooses how to reach a provider: its package makes the requests, wholly or around the messages, and our own readers take the answers. Both are loaded on
 * first use, so that start-up does not pay for them.
 */
export async function askOf(reach: Reach): Promise<Ask> {
  const { type, provider, model, key, base_url: baseURL, headers, idle_ms } = reach;
  const id = `${provider}/${model}`;
  const settings = {
    apiKey: key ?? 'none',
    ...(baseURL === undefined ? {} : { baseURL }),
    ...(headers === undefined ? {} : { headers }),
  };
  const wire = (protocol: WireProtocol, open: (fetch: typeof globalThis.fetch) => LanguageModelV4) =>
    wireAsk({ id, protocol, open, idle_ms });
  switch (type) {
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      const { ANTHROPIC_WIRE } = await import('./wire/anthropic-wire.ts');
      return wire(ANTHROPIC_WIRE, (fetch) => createAnthropic({ ...settings, fetch })(model));
    }
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai');
      const { RESPONSES_WIRE } = await import('./wire/responses-wire.ts');
      return wire(RESPONSES_WIRE, (fetch) => createOpenAI({ ...settings, fetch }).responses(model));
    }
    case 'google': {
      const { createGoogle } = await import('@ai-sdk/google');
      const { googleAsk } = await import('./wire/google-wire.ts');
      return googleAsk(id, (fetch) => createGoogle({ ...settings, fetch })(model), idle_ms);
    }
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      const { chatWire } = await import('./wire/chat-wire.ts');
      if (baseURL === undefined) {
        throw new CoppiceError('E_CONFIG', `provider ${provider} has no address`, {
          hint: `Set providers.${provider}.baseURL`,
        });
      }
      const { apiKey, ...rest } = settings;
      const named = {
        ...rest,
        ...(key === null ? {} : { apiKey }),
        baseURL,
        name: provider,
        includeUsage: true,
      };
      return wire(chatWire(provider), (fetch) => createOpenAICompatible({ ...named, fetch })(model));
    }
  }
}
