import type { LanguageModelV4 } from '@ai-sdk/provider';
import { callOptions } from '../../src/models/provider/call-options.ts';
import type { Ask } from '../../src/models/provider/provider-model.ts';
import { ProviderPrompt } from '../../src/models/provider/provider-prompt.ts';

/** Sends requests through a provider package of the AI SDK, without the SDK around it. */
export function packageAsk(id: string, model: LanguageModelV4): Ask {
  const prompts = new ProviderPrompt(id);
  return async (request, collector) => {
    const { signal } = request;
    const { stream } = await model.doStream({
      ...callOptions(request),
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
