import type { LanguageModelV4Message, LanguageModelV4Usage } from '@ai-sdk/provider';
import { StreamingToolCallTracker } from '@ai-sdk/provider-utils';
import type { AnswerCollector } from '../provider/answer-collector.ts';
import {
  ALONE,
  BrokenEvent,
  type Json,
  listAt,
  objectAt,
  optionalNumber,
  optionalText,
  type WireProtocol,
  type WireReader,
} from './wire-protocol.ts';

/** Chat Completions, as OpenAI-compatible servers speak it. `provider`: the key under which the provider package keeps its metadata. */
export function chatWire(provider: string): WireProtocol {
  return {
    userMessage: (text) => JSON.stringify({ role: 'user', content: text }),
    write: (message) => write(message, provider),
    ...ALONE,
    reader: (collector) => new ChatReader(collector, provider),
  };
}

function write({ role, content }: LanguageModelV4Message, provider: string): string {
  switch (role) {
    case 'system':
      return JSON.stringify({ role, content });
    case 'user': {
      const [only, ...more] = content;
      if (only?.type === 'text' && more.length === 0) return JSON.stringify({ role, content: only.text });
      const parts = content.map((part) =>
        part.type === 'text'
          ? { type: 'text', text: part.text }
          : { type: 'image_url', image_url: { url: dataUrl(part) } },
      );
      return JSON.stringify({ role, content: parts });
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
            function: { name: part.toolName, arguments: JSON.stringify(part.input) },
            ...(thought_signature ? { extra_content: { google: { thought_signature } } } : {}),
          });
        }
      }
      return JSON.stringify({
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
          return [JSON.stringify({ role, tool_call_id: part.toolCallId, content: part.output.value })];
        })
        .join(',');
  }
}

export function dataUrl(part: { readonly mediaType: string; readonly data: unknown }): string {
  const { data } = part.data as { readonly data: string };
  return `data:${part.mediaType};base64,${data}`;
}

const FINISH: Readonly<Record<string, 'stop' | 'length' | 'content-filter' | 'tool-calls'>> = {
  stop: 'stop',
  length: 'length',
  content_filter: 'content-filter',
  function_call: 'tool-calls',
  tool_calls: 'tool-calls',
};

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
  #finish: string | null = null;
  #refused = false;
  #usage: Json | null = null;

  constructor(collector: AnswerCollector, provider: string) {
    this.#collector = collector;
    this.#tracker = new StreamingToolCallTracker<CallDelta>(
      { enqueue: (part) => part !== undefined && collector.add(part) },
      {
        extractMetadata: ({ extra_content }) => {
          const thoughtSignature = extra_content?.google?.thought_signature;
          return thoughtSignature ? { [provider]: { thoughtSignature } } : undefined;
        },
        buildToolCallProviderMetadata: (metadata) => metadata,
      },
    );
  }

  event(value: Json): void {
    if (value.error !== undefined && value.error !== null)
      return this.#collector.add({ type: 'error', error: value.error });
    if (value.usage !== undefined && value.usage !== null) this.#usage = objectAt(value.usage, 'usage');
    const first = listAt(value.choices, 'choices')[0];
    if (first === undefined) return;
    const choice = objectAt(first, 'choice');
    this.#finish = optionalText(choice.finish_reason, 'finish_reason') ?? this.#finish;
    if (choice.delta !== undefined && choice.delta !== null) this.#delta(objectAt(choice.delta, 'delta'));
  }

  #delta(delta: Json): void {
    const reasoning = optionalText(delta.reasoning_content ?? delta.reasoning, 'reasoning');
    if (reasoning) this.#say('reasoning', reasoning);
    if (typeof delta.content === 'string') this.#say('text', delta.content);
    else if (delta.content !== undefined && delta.content !== null)
      this.#pieces(listAt(delta.content, 'content'));
    if (typeof delta.refusal === 'string' && delta.refusal !== '') {
      this.#refused = true;
      this.#say('text', delta.refusal);
    }
    if (delta.tool_calls === undefined || delta.tool_calls === null) return;
    for (const call of listAt(delta.tool_calls, 'tool_calls')) this.#call(objectAt(call, 'call'));
  }

  /** Some servers send the content as a list of texts and thoughts. */
  #pieces(pieces: readonly unknown[]): void {
    for (const one of pieces) {
      const piece = objectAt(one, 'content');
      if (piece.type === 'text' && typeof piece.text === 'string') this.#say('text', piece.text);
      else if (piece.type === 'thinking' && Array.isArray(piece.thinking)) {
        const texts = piece.thinking.map((thought: Json | null) =>
          thought?.type === 'text' && typeof thought.text === 'string' ? thought.text : '',
        );
        this.#say('reasoning', texts.join(''));
      }
    }
  }

  #say(type: 'text' | 'reasoning', delta: string): void {
    if (delta === '') return;
    if (this.#open !== type) this.#collector.add({ type: `${type}-start`, id: '0' });
    this.#open = type;
    this.#collector.add({ type: `${type}-delta`, id: '0', delta });
  }

  #call(call: Json): void {
    const { name, arguments: input } = objectAt(call.function, 'function');
    if (this.#open === 'reasoning') this.#open = null;
    const delta: CallDelta = {
      index: optionalNumber(call.index, 'index') ?? null,
      id: optionalText(call.id, 'id') ?? null,
      function: {
        name: optionalText(name, 'name') ?? null,
        arguments: optionalText(input, 'arguments') ?? '',
      },
      extra_content: (call.extra_content ?? null) as CallDelta['extra_content'],
    };
    const { index } = delta;
    if (index === null || this.#begun.has(index)) return this.#tracker.processDelta(delta);
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
    // Some servers send an empty reason with every piece.
    return this.#finish !== null && Object.hasOwn(FINISH, this.#finish);
  }

  end(): void {
    if (this.#nameless.size > 0) throw new BrokenEvent('a call has no name');
    this.#tracker.flush();
    if (this.#finish === null) return;
    const unified = FINISH[this.#finish] ?? 'other';
    this.#collector.add({
      type: 'finish',
      finishReason: {
        unified: unified === 'stop' && this.#refused ? 'content-filter' : unified,
        raw: this.#finish,
      },
      usage: usageOf(this.#usage),
    });
  }
}

function usageOf(usage: Json | null): LanguageModelV4Usage {
  const count = (of: unknown, name: string) =>
    of === undefined || of === null ? undefined : optionalNumber(objectAt(of, 'usage')[name], name);
  const cacheRead = count(usage?.prompt_tokens_details, 'cached_tokens');
  const reasoning = count(usage?.completion_tokens_details, 'reasoning_tokens');
  return {
    inputTokens: {
      total: count(usage, 'prompt_tokens'),
      noCache: undefined,
      cacheRead,
      cacheWrite: undefined,
    },
    outputTokens: { total: count(usage, 'completion_tokens'), text: undefined, reasoning },
  };
}
