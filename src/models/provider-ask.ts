import type { LanguageModelV4 } from '@ai-sdk/provider';
import { given } from '../records/text/json-fields.ts';
import { splitQuery, withQuery } from './provider/provider-config.ts';
import type { Ask, Reach } from './provider/provider-model.ts';
import { wireAsk } from './wire/wire-model.ts';
import type { WireProtocol } from './wire/wire-protocol.ts';

/**
 * Chooses how to reach a provider: its package makes the requests, wholly or around the messages, and our own readers take the answers. Both are loaded on
 * first use, so that start-up does not pay for them.
 */
export async function askOf(reach: Reach): Promise<Ask> {
  const { type, provider, model, key, base_url, headers, quirks } = reach;
  const { base: baseURL, query } = base_url === undefined ? { query: '' } : splitQuery(base_url);
  const settings = { apiKey: key ?? 'none', ...given({ baseURL, headers }) };
  type Open = (fetch: typeof globalThis.fetch) => LanguageModelV4;
  const asked = (open: Open): Open =>
    query === '' ? open : (fetch) => open((url, init) => fetch(withQuery(String(url), query), init));
  const wire = (protocol: WireProtocol, open: Open) => wireAsk(protocol, asked(open), reach);
  switch (type) {
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      const { anthropicWire } = await import('./wire/anthropic-wire.ts');
      return wire(anthropicWire(baseURL, quirks), (fetch) => createAnthropic({ ...settings, fetch })(model));
    }
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai');
      const { RESPONSES_WIRE } = await import('./wire/responses-wire.ts');
      return wire(RESPONSES_WIRE, (fetch) => createOpenAI({ ...settings, fetch }).responses(model));
    }
    case 'google': {
      const { createGoogle } = await import('@ai-sdk/google');
      const { googleAsk } = await import('./wire/google-wire.ts');
      return googleAsk(
        asked((fetch) => createGoogle({ ...settings, fetch })(model)),
        reach,
      );
    }
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      const { chatWire } = await import('./wire/chat-wire.ts');
      const { apiKey, ...rest } = settings;
      const named = {
        ...rest,
        ...(key === null ? {} : { apiKey }),
        baseURL: baseURL ?? '',
        name: provider,
        includeUsage: true,
      };
      return wire(chatWire(provider, quirks), (fetch) => createOpenAICompatible({ ...named, fetch })(model));
    }
  }
}
