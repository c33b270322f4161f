import { APICallError, type LanguageModelV4, type LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { PromptMessage } from '../core/prompt.ts';
import { AnswerCollector } from './answer-collector.ts';
import { CallLabels } from './call-labels.ts';
import { SpliceError } from './http-fetch.ts';
import type { Model, ModelDelta, ModelOutcome, ModelRequest } from './model.ts';
import { withinPictures } from './picture-budget.ts';
import type { PrefixSplice } from './prefix-splice.ts';
import type { Price } from './provider-config.ts';
import { type FailureTerms, providerFailure } from './provider-failure.ts';
import { ProviderPrompt } from './provider-prompt.ts';

export interface AiSdkModelOptions {
  /** `provider/model`. */
  readonly id: string;
  readonly language_model: LanguageModelV4;
  readonly context_window: number | null;
  readonly price: Price | null;
  /** For protocols that convert message by message: shared prefixes are serialised once. */
  readonly splice?: PrefixSplice;
  /** Ids of calls that the model made itself go back to it as they are (`CallLabels`). */
  readonly trusts_own_ids: boolean;
  /** Refuses to think in the middle of calls that it did not think about (Anthropic). */
  readonly thinks_throughout: boolean;
  /** Providers, by name, that may not be asked for summaries of reasoning; found out once for all models of a process. */
  readonly unsummarised: Set<string>;
  /** Texts that must never show up in an error. */
  readonly secrets: readonly string[];
  /** The variable that the key came from; null without one. */
  readonly key_env: string | null;
}

/** A model behind one of the AI SDK's provider packages, driven directly: one request per step, tools without executors. */
export function createAiSdkModel(options: AiSdkModelOptions): Model {
  const prompts = new ProviderPrompt(options.id);
  const labels = new CallLabels(options.id, options.trusts_own_ids);
  return {
    id: options.id,
    context_window: options.context_window,
    tells_cost: options.price !== null,
    stream: (request, onDelta) => {
      const messages = withinPictures(request.messages);
      const thoughtless = options.thinks_throughout && isForeignLoop(options.id, request.messages);
      const sendable: ModelRequest = {
        ...request,
        messages: labels.apply(messages),
        // Where pictures had to go the prefix is no longer what relatives send.
        shared_prefix: messages === request.messages ? request.shared_prefix : 0,
        thinking: thoughtless ? 'off' : request.thinking,
      };
      return stream(options, prompts, sendable, onDelta);
    },
  };
}

/** Some of the calls since the newest user message were another model's: its reasoning about them cannot be shown. */
function isForeignLoop(model: string, messages: readonly PromptMessage[]): boolean {
  const from = messages.findLastIndex((message) => message.role === 'user') + 1;
  return messages.slice(from).some((message) => message.role === 'assistant' && message.model !== model);
}

async function stream(
  options: AiSdkModelOptions,
  prompts: ProviderPrompt,
  request: ModelRequest,
  onDelta: (delta: ModelDelta) => void,
): Promise<ModelOutcome> {
  const collector = new AnswerCollector(options.id, options.price, onDelta);
  const terms = termsOf(options, request.messages);
  const partial = () => (collector.partial === '' ? {} : { partial: collector.partial });
  try {
    const { stream: parts } = await begin(options, prompts, request);
    const reader = parts.getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      collector.add(next.value);
      if (collector.error !== null || request.signal.aborted) {
        void reader.cancel().catch(() => undefined);
        break;
      }
    }
    if (request.signal.aborted) return { type: 'aborted', ...partial() };
    if (collector.error !== null) return { ...providerFailure(collector.error, terms), ...partial() };
    const answer = collector.answer();
    if (answer !== null) return answer;
    const failure = {
      kind: 'network' as const,
      error: 'the answer broke off before its end',
      retryable: true,
    };
    return { type: 'failure', failure, ...partial() };
  } catch (error) {
    if (request.signal.aborted) return { type: 'aborted', ...partial() };
    return { ...providerFailure(error, terms), ...partial() };
  }
}

function termsOf(
  { secrets, key_env, splice }: AiSdkModelOptions,
  messages: readonly PromptMessage[],
): FailureTerms {
  if (splice === undefined) return { secrets, key_env, messages };
  // What the package made has a mark where the shared prefix was sent.
  const wholeBody = ({ requestBodyValues }: APICallError) => splice.whole(requestBodyValues);
  return { secrets, key_env, messages, wholeBody };
}

/** What a provider says it does not do for us is asked for once. */
async function begin(options: AiSdkModelOptions, prompts: ProviderPrompt, request: ModelRequest) {
  const { id, unsummarised } = options;
  const provider = id.slice(0, id.indexOf('/'));
  const summarised = !unsummarised.has(provider);
  try {
    return await beginSpliced(options, prompts, request, summarised);
  } catch (error) {
    if (!summarised || !refusesSummaries(error)) throw error;
    unsummarised.add(provider);
    return beginSpliced(options, prompts, request, false);
  }
}

/** OpenAI shows summaries of reasoning only to organisations that it has verified. */
function refusesSummaries(error: unknown): boolean {
  return (
    APICallError.isInstance(error) &&
    error.statusCode === 400 &&
    /reasoning\.summary|reasoning summar/i.test(`${error.responseBody ?? ''} ${error.message}`)
  );
}

/** With the shared prefix spliced in where the protocol allows it, whole otherwise. */
async function beginSpliced(
  { language_model, splice }: AiSdkModelOptions,
  prompts: ProviderPrompt,
  request: ModelRequest,
  summarised: boolean,
) {
  const marked = splice?.marked(request.messages, request.shared_prefix) ?? null;
  if (marked === null) return language_model.doStream(callOptions(prompts, request, summarised));
  try {
    return await language_model.doStream(
      callOptions(prompts, { ...request, messages: marked, shared_prefix: 0 }, summarised),
    );
  } catch (error) {
    if (!isSpliceError(error)) throw error;
    return language_model.doStream(callOptions(prompts, request, summarised));
  }
}

function isSpliceError(error: unknown): boolean {
  return error instanceof SpliceError || (error instanceof Error && error.cause instanceof SpliceError);
}

function callOptions(
  prompts: ProviderPrompt,
  request: ModelRequest,
  summarised: boolean,
): LanguageModelV4CallOptions {
  return {
    prompt: prompts.build(request.system, request.messages, request.shared_prefix),
    abortSignal: request.signal,
    ...(request.tools.length === 0
      ? {}
      : {
          tools: request.tools.map((tool) => ({
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
        ...(request.cache_key === undefined ? {} : { promptCacheKey: request.cache_key }),
        ...(summarised ? {} : { reasoningSummary: null }),
      },
    },
    // `off` asks for nothing: models without reasoning would refuse any setting.
    ...(request.thinking === 'off' ? {} : { reasoning: request.thinking }),
  };
}
