import type { LanguageModelV4 } from '@ai-sdk/provider';
import { fieldsOf, itemsOf, numberOf, wordOf } from '../../records/text/json-fields.ts';
import type { JsonObject } from '../../records/text/json-text.ts';
import type { ToolSpec } from '../../records/tool.ts';
import type { AnswerCollector } from '../provider/answer-collector.ts';
import { callOptions } from '../provider/call-options.ts';
import { httpAddress } from '../provider/http-fetch.ts';
import type { Ask, Reach } from '../provider/provider-model.ts';
import { ProviderPrompt } from '../provider/provider-prompt.ts';
import { endAnswer, isFinish } from './finish-reason.ts';
import { PackageRequests } from './package-requests.ts';
import { sendWire } from './send-wire.ts';
import { takeError } from './stream-error.ts';
import { argumentsOf, calledName, OneChoice, textAt, type WireReader } from './wire-protocol.ts';

/** Gemini: requests as the provider package makes them, answers read like those of the other protocols. */
export function googleAsk(
  open: (fetch: typeof globalThis.fetch) => LanguageModelV4,
  { provider, model, idle_ms, standstill_ms, quirks }: Reach,
): Ask {
  const requests = new PackageRequests(open, quirks.omit ?? []);
  const prompts = new ProviderPrompt(`${provider}/${model}`);
  return async (request, collector) => {
    const prompt = prompts.build(request.system, request.messages);
    const options = callOptions({ ...request, tools: request.tools.map(forGoogle) }, quirks);
    const { url, headers, body } = await requests.made({ ...options, prompt });
    const { signal, onHeaders } = request;
    const terms = { signal, idle_ms, standstill_ms, onHeaders };
    const call = { method: 'POST', headers, body: [body], ...terms };
    await sendWire({ url, address: httpAddress(url) }, call, new GoogleReader(collector), collector);
  };
}

/** Google refuses a whole request for one value of an `enum` that is empty or null. Arguments with such a value stay valid. */
function forGoogle(tool: ToolSpec): ToolSpec {
  const input = JSON.stringify(tool.input, (key, value: unknown) => {
    if (key !== 'enum' || !Array.isArray(value)) return value;
    const kept = value.filter((one) => one !== null && one !== '');
    return kept.length === 0 ? undefined : kept;
  });
  return { ...tool, input: JSON.parse(input) };
}

class GoogleReader implements WireReader {
  readonly #collector: AnswerCollector;
  readonly #choice = new OneChoice();
  #open: 'text' | 'reasoning' | null = null;
  #blocks = 0;
  #calls = 0;
  #finish: string | undefined;
  #usage: JsonObject = {};

  constructor(collector: AnswerCollector) {
    this.#collector = collector;
  }

  event(value: JsonObject): void {
    if (value.error != null) return takeError(value, this.#collector);
    if (value.usageMetadata != null) this.#usage = { ...this.#usage, ...fieldsOf(value.usageMetadata) };
    const blocked = wordOf(fieldsOf(value.promptFeedback).blockReason);
    if (blocked !== undefined && !/_UNSPECIFIED$/.test(blocked)) this.#finish = 'content_filter';
    const candidate = this.#choice.of(value.candidates);
    for (const part of itemsOf(fieldsOf(candidate.content).parts)) this.#part(fieldsOf(part));
    const reason = wordOf(candidate.finishReason);
    if (isFinish(reason)) this.#finish ??= reason;
  }

  #part(part: JsonObject): void {
    const sealed = wordOf(part.thoughtSignature);
    const own = sealed === undefined ? {} : { providerMetadata: { google: { thoughtSignature: sealed } } };
    if (part.functionCall !== undefined && part.functionCall !== null) {
      const call = fieldsOf(part.functionCall);
      const toolName = calledName(call.name);
      this.#open = null;
      this.#calls += 1;
      const toolCallId = wordOf(call.id) ?? `call_${this.#calls}`;
      this.#collector.add({
        type: 'tool-call',
        toolCallId,
        toolName,
        input: argumentsOf(call.args) || '{}',
        ...own,
      });
      return;
    }
    const delta = textAt(part.text, 'text');
    if (delta === '' && sealed === undefined) return;
    // A signature without text seals the text before it, or stands alone.
    const alone = delta === '' && this.#open !== 'text';
    const type = part.thought === true && (alone || delta !== '') ? 'reasoning' : 'text';
    if (alone || this.#open !== type) {
      this.#blocks += 1;
      this.#collector.add({ type: `${type}-start`, id: `${this.#blocks}`, ...own });
    }
    this.#open = alone ? null : type;
    this.#collector.add({ type: `${type}-delta`, id: `${this.#blocks}`, delta, ...own });
  }

  get closing(): boolean {
    return this.#finish !== undefined;
  }

  end(done: boolean): void {
    if (this.#finish === undefined && !(done && this.#collector.begun)) return;
    const count = (field: string) => numberOf(this.#usage[field]);
    const [answer = 0, reasoning = 0] = [count('candidatesTokenCount'), count('thoughtsTokenCount')];
    endAnswer(this.#collector, this.#finish, {
      input: (count('promptTokenCount') ?? 0) + (count('toolUsePromptTokenCount') ?? 0),
      // Left out if nothing was read from the cache.
      cached: count('cachedContentTokenCount') ?? 0,
      output: answer + reasoning,
      reasoning,
    });
  }
}
