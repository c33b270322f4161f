import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { KEY } from './protocols.ts';

interface Settings {
  readonly baseURL: string;
  readonly fetch: typeof fetch;
}

/** The provider packages for the protocols that we implement ourselves, as reference implementations. */
export const PACKAGES: Readonly<Record<string, (settings: Settings, model: string) => LanguageModelV4>> = {
  anthropic: (settings, model) => createAnthropic({ ...settings, apiKey: KEY })(model),
  openai: (settings, model) => createOpenAI({ ...settings, apiKey: KEY }).responses(model),
  'openai-compatible': (settings, model) =>
    createOpenAICompatible({ ...settings, apiKey: KEY, name: 'local', includeUsage: true })(model),
};
