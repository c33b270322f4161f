import type { LanguageModelV4Message, LanguageModelV4Usage } from '@ai-sdk/provider';
import { StreamingToolCallTracker } from '@ai-sdk/provider-utils';
import { isJsonObject, wellFormedJson } from '../../records/text/json-text.ts';
import type { AnswerCollector } from '../provider/answer-collector.ts';
import { finishOf, isFinish } from './finish-reason.ts';
import { takeError } from './stream-error.ts';
import {
  ALONE,
  argumentsOf,
  BrokenEvent,
  fieldsOf,
  itemsOf,
  type Json,
  numberOf,
  textAt,
  type WireProtocol,
  type WireReader,
  wordOf,
} from './wire-protocol.ts';

/** Chat Completions, as OpenAI-compatible servers speak it. `provider`: the key under which the provider package keeps its metadata. */
export function chatWire(provider: string): WireProtocol {
  return {
    userMessage: (text) => wellFormedJson({ role: 'user', content: text }),
    write: (message) => write(message, provider),
    ...ALONE,
    reader: (collector) => new ChatReader(collector, provider),
  };
}

function write({ role, content }: LanguageModelV4Message, provider: string): string {
  switch (role) {
    case 'system':
      return wellFormedJson({ role, content });
    case 'user': {
      const [only, ...more] = content;
      if (only?.type === 'text' && more.length === 0) return wellFormedJson({ role, content: only.text });
      const parts = content.map((part) =>
        part.type === 'text'
          ? { type: 'text', text: part.text }
          : { type: 'image_url', image_url: { url: dataUrl(part) } },
      );
      return wellFormedJson({ role, content: parts });
    }
    case 'assistant': {
      let [text, reasoning_content] = ['', ''];
      const tool_calls = [];
      for (const part of content) {
        if (part.type === 'text') text += part.text;
        else if (part.type === 'reasoning') reasoning_content += part.text;
        else if (part.type === 'tool-call') {
          const own = part.providerOptions;
          const thought_signature = own?.[provider]?.thoughtSignature ?? own?.google?.thoughtSignature;
          tool_calls.push({
            id: part.toolCallId,
            type: 'function',
            function: { name: part.toolName, arguments: wellFormedJson(part.input) },
            ...(thought_signature ? { extra_content: { google: { thought_signature } } } : {}),
          });
        }
      }
      return wellFormedJson({
        role,
        content: tool_calls.length > 0 ? text || null : text,
        ...(reasoning_content === '' ? {} : { reasoning_content }),
        ...(tool_calls.length > 0 ? { tool_calls } : {}),
      });
    }
    case 'tool':
      return content
        .flatMap((part) => {
          if (part.type !== 'tool-result' || !('value' in part.output)) return [];
          return [wellFormedJson({ role, tool_call_id: part.toolCallId, content: part.output.value })];
        })
        .join(',');
  }
}

export function dataUrl(part: { readonly mediaType: string; readonly data: unknown }): string {
  const { data } = part.data as { readonly data: string };
  return `data:${part.mediaType};base64,${data}`;
}

interface CallDelta {
  readonly index: number | null;
  readonly id: string | null;
  readonly function: { readonly name: string | null; readonly arguments: string };
  readonly extra_content: { google?: { thought_signature?: string | null } | null } | null;
}

/** Some servers send the name of a call after its first piece. */
function afterNameless(before: CallDelta | undefined, delta: CallDelta): CallDelta {
  if (before === undefined) return delta;
  return {
    index: delta.index,
    id: before.id ?? delta.id,
    function: { name: delta.function.name, arguments: before.function.arguments + delta.function.arguments },
    extra_content: before.extra_content ?? delta.extra_content,
  };
}

/** Calls are assembled from pieces by the package's tracker, which supports the variants of many servers. */
class ChatReader implements WireReader {
  readonly #collector: AnswerCollector;
  readonly #tracker: StreamingToolCallTracker<CallDelta>;
  /** Pieces of calls that have no name yet, by index. */
  readonly #nameless = new Map<number, CallDelta>();
  readonly #begun = new Set<number>();
  #open: 'text' | 'reasoning' | null = null;
  #finish: string | undefined;
  #called = false;
  #named = false;
  #refused = false;
  #spoken = false;
  #usage: unknown;

  constructor(collector: AnswerCollector, provider: string) {
    this.#collector = collector;
    this.#tracker = new StreamingToolCallTracker<CallDelta>(
      {
        enqueue: (part) => {
          this.#called ||= part?.type === 'tool-call';
          if (part !== undefined) collector.add(part);
        },
      },
      {
        extractMetadata: ({ extra_content }) => {
          const thoughtSignature = extra_content?.google?.thought_signature;
          return thoughtSignature ? { [provider]: { thoughtSignature } } : undefined;
        },
        buildToolCallProviderMetadata: (metadata) => metadata,
      },
    );
  }

  event(value: Json, name: string): void {
    const first = fieldsOf(itemsOf(value.choices)[0]);
    const error = value.error ?? first.error ?? (name === 'error' ? value : null);
    if (error !== null) return takeError({ ...value, error }, this.#spoken, this.#collector);
    if (value.usage != null) this.#usage = fieldsOf(value.usage);
    const reason = wordOf(first.finish_reason);
    if (isFinish(reason)) this.#finish = reason;
    const delta = fieldsOf(first.delta);
    // Some servers send the whole message instead of its last piece.
    this.#delta(Object.keys(delta).length > 0 || this.#spoken ? delta : fieldsOf(first.message));
  }

  whole(value: Json): void {
    this.event(value, '');
    this.end(true);
  }

  #delta(delta: Json): void {
    const reasoning = textAt(delta.reasoning_content ?? delta.reasoning, 'reasoning');
    this.#say('reasoning', reasoning);
    if (typeof delta.content === 'object') this.#pieces(itemsOf(delta.content));
    else this.#say('text', textAt(delta.content, 'content'));
    if (typeof delta.refusal === 'string' && delta.refusal !== '') {
      this.#refused = true;
      this.#say('text', delta.refusal);
    }
    for (const call of itemsOf(delta.tool_calls)) if (isJsonObject(call)) this.#call(call);
    // The form of calls before there were several.
    if (isJsonObject(delta.function_call)) this.#call({ index: 0, function: delta.function_call });
  }

  /** Some servers send the content as a list of texts and thoughts. */
  #pieces(pieces: readonly unknown[]): void {
    for (const one of pieces) {
      const piece = typeof one === 'string' ? { text: one } : fieldsOf(one);
      if (piece.thinking === undefined) this.#say('text', textAt(piece.text, 'text'));
      else if (typeof piece.thinking === 'string') this.#say('reasoning', piece.thinking);
      else
        for (const thought of itemsOf(piece.thinking))
          this.#say('reasoning', textAt(fieldsOf(thought).text, 'thinking'));
    }
  }

  #say(type: 'text' | 'reasoning', delta: string): void {
    if (delta === '') return;
    this.#spoken = true;
    if (this.#open !== type) this.#collector.add({ type: `${type}-start`, id: '0' });
    this.#open = type;
    this.#collector.add({ type: `${type}-delta`, id: '0', delta });
  }

  #call(call: Json): void {
    this.#spoken = true;
    if (this.#open === 'reasoning') this.#open = null;
    const { name, arguments: input } = fieldsOf(call.function);
    const delta: CallDelta = {
      index: numberOf(call.index) ?? null,
      id: wordOf(call.id) ?? null,
      function: { name: wordOf(name) ?? null, arguments: argumentsOf(input) },
      extra_content: isJsonObject(call.extra_content) ? call.extra_content : null,
    };
    const { index } = delta;
    this.#named ||= delta.function.name !== null;
    if (index === null && !this.#named && delta.id === null && delta.function.arguments === '') return;
    if (index === null && !this.#named) throw new BrokenEvent('a call has no name');
    if (index === null || this.#begun.has(index)) return this.#tracker.processDelta(delta);
    // Some servers send the index with later pieces only.
    if (this.#named && delta.id === null && delta.function.name === null && !this.#nameless.has(index))
      return this.#tracker.processDelta({ ...delta, index: null });
    const whole = afterNameless(this.#nameless.get(index), delta);
    if (whole.function.name === null) {
      this.#collector.add({ type: 'tool-input-delta', id: '', delta: delta.function.arguments });
      this.#nameless.set(index, whole);
      return;
    }
    this.#nameless.delete(index);
    this.#begun.add(index);
    this.#tracker.processDelta(whole);
  }

  get closing(): boolean {
    return this.#finish !== undefined;
  }

  end(done: boolean): void {
    if (this.#finish === undefined && !(done && this.#spoken)) return;
    if (this.#nameless.size > 0) throw new BrokenEvent('a call has no name');
    this.#tracker.flush();
    const unified = finishOf(this.#finish, this.#called);
    this.#collector.add({
      type: 'finish',
      finishReason: {
        unified: unified === 'stop' && this.#refused ? 'content-filter' : unified,
        raw: this.#finish,
      },
      usage: usageOf(fieldsOf(this.#usage)),
    });
  }
}

function usageOf(usage: Json): LanguageModelV4Usage {
  const read = fieldsOf(usage.prompt_tokens_details);
  return {
    inputTokens: {
      total: numberOf(usage.prompt_tokens),
      noCache: undefined,
      cacheRead: numberOf(read.cached_tokens),
      cacheWrite: undefined,
    },
    outputTokens: {
      total: numberOf(usage.completion_tokens),
      text: undefined,
      reasoning: numberOf(fieldsOf(usage.completion_tokens_details).reasoning_tokens),
    },
  };
}
