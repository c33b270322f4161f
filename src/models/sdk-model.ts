import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4TextPart,
} from '@ai-sdk/provider';
import { APICallError } from '@ai-sdk/provider';
import { orElse } from '../records/coppice-error.ts';
import { unlessAborted } from '../records/unless-aborted.ts';
import { behindDoors, doorsOf } from './gate/closed-provider.ts';
import { Gate, gated } from './gate/gate.ts';
import type { Model, SdkModel } from './model.ts';
import { callOptions } from './provider/call-options.ts';
import { usualWindow } from './provider/context-windows.ts';
import { ConnectionError, unconnected } from './provider/http-fetch.ts';
import { listPrice } from './provider/prices.ts';
import type { ProviderConfig, Quirks } from './provider/provider-config.ts';
import { isOurs, ObjectFault } from './provider/provider-failure.ts';
import { type Ask, createProviderModel } from './provider/provider-model.ts';
import { breakpoints, ProviderPrompt } from './provider/provider-prompt.ts';
import { memoryQuirks } from './provider/quirk-book.ts';
import type { OpenModelOptions } from './providers.ts';
import { endAnswer } from './wire/finish-reason.ts';

const IDLE_MS = 120_000;

/** A model object of the AI SDK as a model: its package makes the requests and reads the answers; retries, pauses, prices and checks are those of all providers. */
export function openSdkModel(name: string, object: SdkModel, terms: Omit<OpenModelOptions, 'env'>): Model {
  const { provider, modelId: model } = object;
  const vendor = provider.split('.', 1)[0] as ProviderConfig['type'];
  const price = listPrice(vendor, model);
  const book = terms.quirks ?? memoryQuirks();
  const opened = createProviderModel({
    id: name,
    askFor: async (quirks) => sdkAsk(name, object, terms.idle_timeout_ms ?? IDLE_MS, quirks),
    quirks: { of: () => book.of(name), learn: (_, quirks) => book.learn(name, quirks) },
    near: async () => '',
    context_window: usualWindow(vendor, model),
    price,
    caches_prefixes: price !== null,
    key_env: null,
    get secrets() {
      return secretsOf(object);
    },
    trusts_own_ids: vendor !== 'anthropic' && vendor !== 'openai',
    thinks_throughout: /anthropic/.test(provider),
  });
  const gate = terms.gates?.get(name) ?? new Gate({ onLearnt: (learnt) => terms.onLearnt?.(name, learnt) });
  terms.gates?.set(name, gate);
  const places = { provider, model, reached: `ai-sdk ${provider}`, probe: undefined };
  return behindDoors(opened, (one) => gated(one, gate), doorsOf(places, terms.doors ?? new Map(), terms.now));
}

/** Its key is nowhere to be asked for; the objects of most packages know the headers that they send. */
function secretsOf(object: SdkModel): string[] {
  const { headers } = (object as { config?: { headers?: unknown } }).config ?? {};
  const sent: unknown = typeof headers === 'function' ? orElse(() => headers(), null) : headers;
  const named = Object.entries(sent ?? {}).filter(([name]) => /auth|key|token/i.test(name));
  return named.flatMap(([, value]) => [String(value), String(value).replace(/^\w+ /, '')]);
}

function sdkAsk(name: string, object: SdkModel, idle_ms: number, quirks: Quirks): Ask {
  const prompts = new ProviderPrompt(name);
  const doStream = (options: LanguageModelV4CallOptions) =>
    (object as LanguageModelV4).doStream(
      object.specificationVersion === 'v3' ? asVersion3(options, object.provider) : options,
    );
  return async (request, collector) => {
    const { signal, system, messages, shared_prefix, onHeaders } = request;
    const prompt = prompts.build(system, messages);
    const shared = prompts.build(system, messages.slice(0, shared_prefix)).length;
    const silence = new AbortController();
    const abortSignal = AbortSignal.any([signal, silence.signal]);
    // Also of a package that does not heed the signal nothing more is waited for.
    const within = async <T>(work: PromiseLike<T>): Promise<T> => {
      let is_over = false;
      // After a sleep of the machine, timers come before what has arrived.
      const timer = setTimeout(() => setImmediate(() => is_over || silence.abort()), idle_ms);
      const ended = (): never => {
        if (signal.aborted) throw signal.reason;
        throw new ConnectionError('idle', `no answer from ${name} within ${Math.round(idle_ms / 1000)} s`);
      };
      const failed = (error: unknown): never => {
        throw abortSignal.aborted ? ended() : objectFault(name, connectionFault(error));
      };
      return unlessAborted(Promise.resolve(work).catch(failed), abortSignal, ended).finally(() => {
        is_over = true;
        clearTimeout(timer);
      });
    };
    // What the package writes cannot be left out; that it asks for reasoning can.
    const is_plain = quirks.omit?.some((path) => /reason|think/i.test(path)) === true;
    const own = callOptions(is_plain ? { ...request, thinking: 'off' } : request, quirks);
    const asked = { ...own, prompt: marked(prompt, shared), abortSignal };
    const answer = await within((async () => doStream(asked))());
    if (typeof answer?.stream?.getReader !== 'function')
      throw new ObjectFault(
        `${objectNamed(name)} gave no stream: its doStream must give { stream: a ReadableStream }`,
      );
    onHeaders?.(200, answer.response?.headers ?? {});
    const reader = answer.stream.getReader();
    try {
      for (let next = await within(reader.read()); !next.done; next = await within(reader.read())) {
        if (typeof next.value?.type !== 'string')
          throw new ObjectFault(
            `${objectNamed(name)} gave ${JSON.stringify(next.value)} in its stream, which is no part`,
          );
        take(next.value, collector);
        if (collector.error !== null) return;
      }
    } finally {
      void reader.cancel().catch(() => undefined);
    }
  };
}

/** The end as objects of other versions, and those that programs write by themselves, have it. */
interface SaidEnd {
  readonly finishReason?: string | { readonly unified: string; readonly raw?: string };
  readonly usage?: { readonly inputTokens?: number | object; readonly outputTokens?: number | object };
}

function take(part: LanguageModelV4StreamPart, collector: Parameters<Ask>[1]): void {
  if (part.type === 'error') return collector.add({ ...part, error: connectionFault(part.error) });
  if (part.type === 'tool-call') {
    // What the provider runs by itself needs no result of ours.
    if (part.providerExecuted === true) return;
    const input: unknown = part.input;
    return collector.add({ ...part, input: typeof input === 'string' ? input : JSON.stringify(input ?? {}) });
  }
  if (part.type !== 'finish') return collector.add(part);
  const { finishReason: said = 'other', usage } = part as SaidEnd;
  const counted = (tokens: number | object = {}) =>
    typeof tokens === 'number' ? { total: tokens } : (tokens ?? {});
  const whole = {
    ...part,
    finishReason: typeof said === 'string' ? { unified: said, raw: undefined } : said,
    usage: { inputTokens: counted(usage?.inputTokens), outputTokens: counted(usage?.outputTokens) },
  } as typeof part;
  const { unified, raw } = whole.finishReason;
  // A word that the package does not know ends an answer; without a word, the stream has broken off.
  if (unified !== 'other' || raw === undefined) return collector.add(whole);
  const { inputTokens: input, outputTokens: output } = whole.usage;
  const read = { input: input.total, cached: input.cacheRead, written: input.cacheWrite };
  endAnswer(collector, raw, { ...read, output: output.total, reasoning: output.reasoning });
}

/** Anthropic caches what is marked; the others pass over it. */
function marked(prompt: LanguageModelV4Prompt, shared: number): LanguageModelV4Prompt {
  const marks = breakpoints(prompt, shared - 1);
  const anthropic = { cacheControl: { type: 'ephemeral' } };
  return prompt.map((one, at) =>
    marks.has(at) ? { ...one, providerOptions: { ...one.providerOptions, anthropic } } : one,
  );
}

/** Budgets of tokens, where a provider of version 3 knows no words for the depth of reasoning. */
const BUDGETS: Readonly<Record<string, number>> = { low: 4_096, medium: 12_288, high: 24_576 };

/** Version 3 (AI SDK 6): pictures without a wrapping, and reasoning as an option of each provider. */
function asVersion3(
  { reasoning, providerOptions, prompt, ...options }: LanguageModelV4CallOptions,
  provider: string,
): LanguageModelV4CallOptions {
  const budget = BUDGETS[reasoning ?? ''];
  const vendor = provider.split('.', 1)[0] ?? provider;
  const own = reasoning === undefined ? {} : { reasoningEffort: reasoning };
  const thinking = budget !== undefined && {
    [vendor]: own,
    openaiCompatible: own,
    openai: { ...providerOptions?.openai, ...own },
    anthropic: { thinking: { type: 'enabled', budgetTokens: budget } },
    google: { thinkingConfig: { includeThoughts: true, thinkingBudget: budget } },
  };
  const plainPart = (part: LanguageModelV4TextPart | LanguageModelV4FilePart) =>
    part.type === 'file' && part.data.type === 'data' ? { ...part, data: part.data.data } : part;
  const plain = (one: LanguageModelV4Prompt[number]) =>
    one.role === 'user' ? { ...one, content: one.content.map(plainPart) } : one;
  const whole = {
    ...options,
    prompt: prompt.map(plain),
    providerOptions: { ...providerOptions, ...thinking },
  };
  return whole as unknown as LanguageModelV4CallOptions;
}

const objectNamed = (name: string) => `the model object ${name}`;

function objectFault(name: string, error: unknown): unknown {
  if (!isOurs(error)) return error;
  return new ObjectFault(`${objectNamed(name)} failed: ${error.message}`, { cause: error });
}

/** An error of the connection, as `fetch` has it at several depths, in our words; others as they are. */
function connectionFault(error: unknown): unknown {
  const causes: NodeJS.ErrnoException[] = [];
  for (let one = error; one instanceof Error && causes.length < 5; one = one.cause) causes.push(one);
  const code = causes.map((one) => one.code).find((one) => typeof one === 'string');
  if (APICallError.isInstance(error) && error.statusCode === undefined && causes.length > 1) {
    const host = URL.canParse(error.url) ? new URL(error.url).host : error.url;
    return unconnected(host, code, error);
  }
  if (error instanceof TypeError && error.message === 'fetch failed') {
    const { hostname, address = 'the server' } = (causes[1] ?? {}) as { hostname?: string; address?: string };
    return unconnected(hostname ?? address, code, error);
  }
  const is_broken =
    causes.some(({ message }) => message === 'terminated') || /^(UND_ERR|ECONN|EPIPE)/.test(code ?? '');
  if (!is_broken) return error;
  return new ConnectionError('broken', 'the connection broke off in the middle of the answer', error);
}
