import type { LanguageModelV4 } from '@ai-sdk/provider';
import { CoppiceError } from '../records/coppice-error.ts';
import { callOptions } from './provider/call-options.ts';
import { createStreamFetch } from './provider/http-fetch.ts';
import type { ProviderConfig } from './provider/provider-config.ts';
import type { Ask } from './provider/provider-model.ts';
import { ProviderPrompt } from './provider/provider-prompt.ts';
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
 * Chooses how to reach a provider: our own implementation for the three common protocols, the provider's package for others. Both are loaded on first
 * use, so that start-up does not pay for them.
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
      return packageAsk(id, createGoogle({ ...settings, fetch: createStreamFetch(idle_ms) })(model));
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

/** Sends requests through a provider package of the AI SDK, without the SDK around it. */
export function packageAsk(id: string, model: LanguageModelV4): Ask {
  const prompts = new ProviderPrompt(id);
  return async (request, summarised, collector) => {
    const { signal } = request;
    const { stream } = await model.doStream({
      ...callOptions(request, summarised),
      prompt: prompts.build(request.system, request.messages),
      abortSignal: signal,
    });
    const reader = stream.getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      collector.add(next.value);
      if (collector.error === null && !signal.aborted) continue;
      void reader.cancel().catch(() => undefined);
      return;
    }
  };
}
