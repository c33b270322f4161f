import { APICallError } from '@ai-sdk/provider';
import type { PromptMessage } from '../../records/conversation/prompt-message.ts';
import type { Model, ModelDelta, ModelOutcome, ModelRequest } from '../model.ts';
import { AnswerCollector } from './answer-collector.ts';
import { CallLabels } from './call-labels.ts';
import { withinPictures } from './picture-budget.ts';
import type { Price } from './provider-config.ts';
import { providerFailure } from './provider-failure.ts';

/**
 * Sends one request and reads the answer into the collector until its end, its first error or the abort. `summarised`: whether to request reasoning
 * summaries. Rejects with the error.
 */
export type Ask = (request: ModelRequest, summarised: boolean, collector: AnswerCollector) => Promise<void>;

export interface ProviderModelOptions {
  /** `provider/model`. */
  readonly id: string;
  readonly ask: Ask;
  readonly context_window: number | null;
  readonly price: Price | null;
  readonly caches_prefixes: boolean;
  /** Whether the model's own call ids are kept unchanged (`CallLabels`). */
  readonly trusts_own_ids: boolean;
  /** Whether the provider refuses reasoning within a sequence of calls that began without it (Anthropic). */
  readonly thinks_throughout: boolean;
  /** Providers that refused reasoning summaries; shared by all models of the process. */
  readonly unsummarised: Set<string>;
  /** Secrets that must never appear in an error. */
  readonly secrets: readonly string[];
  /** The environment variable that the key came from; null without one. */
  readonly key_env: string | null;
}

/** A model of a provider: one request per step, tools without executors. */
export function createProviderModel(options: ProviderModelOptions): Model {
  const labels = new CallLabels(options.id, options.trusts_own_ids);
  return {
    id: options.id,
    context_window: options.context_window,
    tells_cost: options.price !== null,
    caches_prefixes: options.caches_prefixes,
    stream: (request, onDelta) => {
      const messages = withinPictures(request.messages);
      const thoughtless = options.thinks_throughout && isForeignLoop(options.id, request.messages);
      const sendable: ModelRequest = {
        ...request,
        messages: labels.apply(messages),
        // Without the dropped images, the prefix is no longer shared with related agents.
        shared_prefix: messages === request.messages ? request.shared_prefix : 0,
        thinking: thoughtless ? 'off' : request.thinking,
      };
      return stream(options, sendable, onDelta);
    },
  };
}

/** Whether an answer since the newest user message is another model's, whose reasoning cannot be sent. */
function isForeignLoop(model: string, messages: readonly PromptMessage[]): boolean {
  const from = messages.findLastIndex((message) => message.role === 'user') + 1;
  return messages.slice(from).some((message) => message.role === 'assistant' && message.model !== model);
}

async function stream(
  options: ProviderModelOptions,
  request: ModelRequest,
  onDelta: (delta: ModelDelta) => void,
): Promise<ModelOutcome> {
  const collector = new AnswerCollector(options.id, options.price, onDelta);
  const partial = () => (collector.partial === '' ? {} : { partial: collector.partial });
  const failed = (error: unknown): ModelOutcome => ({
    ...providerFailure(error, { ...options, messages: request.messages }),
    ...partial(),
  });
  try {
    await begin(options, request, collector);
    if (request.signal.aborted) return { type: 'aborted', ...partial() };
    if (collector.error !== null) return failed(collector.error);
    const answer = collector.answer();
    if (answer !== null) return answer;
    const failure = {
      kind: 'network' as const,
      error: 'the answer broke off before its end',
      retryable: true,
    };
    return { type: 'failure', failure, ...partial() };
  } catch (error) {
    return request.signal.aborted ? { type: 'aborted', ...partial() } : failed(error);
  }
}

/** Sends the request. A feature that the provider refuses is requested only once. */
async function begin(
  { ask, id, unsummarised }: ProviderModelOptions,
  request: ModelRequest,
  collector: AnswerCollector,
): Promise<void> {
  const provider = id.slice(0, id.indexOf('/'));
  const summarised = !unsummarised.has(provider);
  try {
    await ask(request, summarised, collector);
  } catch (error) {
    if (!summarised || !refusesSummaries(error)) throw error;
    unsummarised.add(provider);
    await ask(request, false, collector);
  }
}

/** OpenAI provides reasoning summaries only to verified organizations. */
function refusesSummaries(error: unknown): boolean {
  return (
    APICallError.isInstance(error) &&
    error.statusCode === 400 &&
    /reasoning\.summary|reasoning summar/i.test(`${error.responseBody ?? ''} ${error.message}`)
  );
}
