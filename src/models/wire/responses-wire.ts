import type { LanguageModelV4Message, LanguageModelV4Usage } from '@ai-sdk/provider';
import { parseJson } from '../../records/text/json-text.ts';
import type { ToolSpec } from '../../records/tool.ts';
import type { AnswerCollector } from '../provider/answer-collector.ts';
import { dataUrl } from './chat-wire.ts';
import { takeError } from './stream-error.ts';
import {
  ALONE,
  BrokenEvent,
  type Json,
  objectAt,
  optionalNumber,
  optionalText,
  textAt,
  type WireProtocol,
  type WireReader,
} from './wire-protocol.ts';

/** OpenAI Responses without storage at OpenAI: items are sent back completely, reasoning encrypted. */
export const RESPONSES_WIRE: WireProtocol = {
  userMessage: (text) => JSON.stringify({ role: 'user', content: [{ type: 'input_text', text }] }),
  write: (message) =>
    items(message)
      .map((item) => JSON.stringify(item))
      .join(','),
  ...ALONE,
  reader: (collector, tools) => new ResponsesReader(collector, tools),
};

function items(message: LanguageModelV4Message): readonly object[] {
  switch (message.role) {
    case 'system':
      return [message];
    case 'user': {
      const content = message.content.map((part) =>
        part.type === 'text'
          ? { type: 'input_text', text: part.text }
          : { type: 'input_image', image_url: dataUrl(part) },
      );
      return [{ role: 'user', content }];
    }
    case 'assistant':
      return answerItems(message.content);
    case 'tool':
      return message.content.flatMap((part) => {
        if (part.type !== 'tool-result' || !('value' in part.output)) return [];
        const { type, value } = part.output;
        // The protocol has no other way to mark an error.
        const output = type === 'error-text' ? JSON.stringify({ error: value }) : value;
        return [{ type: 'function_call_output', call_id: part.toolCallId, output }];
      });
  }
}

interface ReasoningItem {
  readonly type: 'reasoning';
  readonly id?: string;
  encrypted_content: string | null;
  readonly summary: { readonly type: 'summary_text'; readonly text: string }[];
}

/** Reasoning parts with the same id form one item; unencrypted reasoning cannot be sent back. */
function answerItems(content: Extract<LanguageModelV4Message, { role: 'assistant' }>['content']): object[] {
  const reasoning = new Map<string, ReasoningItem>();
  const all: object[] = [];
  for (const part of content) {
    const own =
      (part.type === 'text' || part.type === 'reasoning' ? part.providerOptions?.openai : null) ?? {};
    if (part.type === 'text') {
      const phase = own.phase ?? null;
      all.push({ role: 'assistant', content: part.text, ...(phase === null ? {} : { phase }) });
    } else if (part.type === 'tool-call') {
      const { toolCallId: call_id, toolName: name, input } = part;
      all.push({ type: 'function_call', call_id, name, arguments: JSON.stringify(input) });
    } else if (part.type === 'reasoning') {
      const { itemId: id, reasoningEncryptedContent: sealed } = own as Record<
        string,
        string | null | undefined
      >;
      const summary = part.text === '' ? [] : [{ type: 'summary_text' as const, text: part.text }];
      const known = id == null ? undefined : reasoning.get(id);
      if (known !== undefined) {
        known.summary.push(...summary);
        known.encrypted_content = sealed ?? known.encrypted_content;
        continue;
      }
      const item: ReasoningItem = {
        type: 'reasoning',
        ...(id == null ? {} : { id }),
        encrypted_content: sealed ?? null,
        summary,
      };
      if (id != null) reasoning.set(id, item);
      all.push(item);
    }
  }
  return all.filter((item) => !('encrypted_content' in item) || item.encrypted_content !== null);
}

const INCOMPLETE: Readonly<Record<string, 'length' | 'content-filter'>> = {
  max_output_tokens: 'length',
  content_filter: 'content-filter',
};

class ResponsesReader implements WireReader {
  readonly #collector: AnswerCollector;
  readonly #tools: readonly ToolSpec[];
  /** Item ids may change between events, output indexes do not; some servers omit indexes. */
  readonly #places = new Map<string, number>();
  /** Reasoning items by output index. The last summary of an item carries the encrypted content. */
  readonly #reasoning = new Map<number, { readonly itemId: string; last: number }>();
  #message = '';
  #phase: string | undefined;
  #called = false;
  #refused = false;
  #spoken = false;

  constructor(collector: AnswerCollector, tools: readonly ToolSpec[]) {
    this.#collector = collector;
    this.#tools = tools;
  }

  event(value: Json): void {
    switch (value.type) {
      case 'response.output_text.delta':
        return this.#delta('text', value, '');
      case 'response.refusal.delta':
        this.#refused = true;
        return this.#delta('text', value, '');
      case 'response.refusal.done':
        this.#refused = true;
        return;
      case 'response.reasoning_summary_text.delta':
        return this.#delta('reasoning', value, `:${summaryOf(value)}`);
      case 'response.reasoning_summary_part.added':
        // The first summary starts with its item.
        if (summaryOf(value) > 0) this.#summary(this.#place(value), summaryOf(value));
        return;
      case 'response.output_item.added':
        return this.#added(this.#place(value), objectAt(value.item, 'item'));
      case 'response.output_item.done':
        return this.#done(this.#place(value), objectAt(value.item, 'item'));
      case 'response.completed':
      case 'response.incomplete':
        return this.#finish(objectAt(value.response, 'response'));
      case 'response.failed':
      case 'error':
        return takeError(value, this.#spoken, this.#collector);
      default:
        if (Array.isArray(value.choices))
          throw new BrokenEvent('the server speaks Chat Completions: its type is openai-compatible');
        // Other types of events are new.
        textAt(value.type, 'type');
        return;
    }
  }

  #delta(type: 'text' | 'reasoning', value: Json, suffix: string): void {
    this.#spoken = true;
    this.#collector.add({
      type: `${type}-delta`,
      id: `${this.#place(value)}${suffix}`,
      delta: textAt(value.delta, 'delta'),
    });
  }

  #place({ output_index, item_id }: Json): number {
    const known = typeof item_id === 'string' ? this.#places.get(item_id) : undefined;
    return optionalNumber(output_index, 'output_index') ?? known ?? 0;
  }

  #added(place: number, item: Json): void {
    if (item.type !== 'message' && item.type !== 'reasoning') return;
    const itemId = textAt(item.id, 'id');
    this.#places.set(itemId, place);
    if (item.type === 'reasoning') {
      this.#reasoning.set(place, { itemId, last: 0 });
      return this.#summary(place, 0);
    }
    this.#message = itemId;
    this.#phase = optionalText(item.phase, 'phase');
    const openai = { itemId, ...(this.#phase === undefined ? {} : { phase: this.#phase }) };
    this.#collector.add({ type: 'text-start', id: `${place}`, providerMetadata: { openai } });
  }

  #summary(place: number, index: number): void {
    const known = this.#reasoning.get(place);
    if (known === undefined) return;
    known.last = index;
    const providerMetadata = { openai: { itemId: known.itemId } };
    this.#collector.add({ type: 'reasoning-start', id: `${place}:${index}`, providerMetadata });
  }

  #done(place: number, item: Json): void {
    if (item.type === 'reasoning') {
      const known = this.#reasoning.get(place);
      if (known === undefined) return;
      const reasoningEncryptedContent = optionalText(item.encrypted_content, 'encrypted_content') ?? null;
      const providerMetadata = { openai: { itemId: known.itemId, reasoningEncryptedContent } };
      this.#collector.add({ type: 'reasoning-end', id: `${place}:${known.last}`, providerMetadata });
    } else if (item.type === 'message') {
      const phase = optionalText(item.phase, 'phase') ?? this.#phase;
      const openai = { itemId: this.#message, ...(phase === undefined ? {} : { phase }) };
      this.#collector.add({ type: 'text-end', id: `${place}`, providerMetadata: { openai } });
    } else if (item.type === 'function_call') {
      this.#called = true;
      this.#spoken = true;
      const input = textAt(item.arguments, 'arguments');
      const name = textAt(item.name, 'name');
      const id = textAt(item.call_id, 'call_id');
      const several = name === 'parallel' ? this.#parallel(input) : null;
      if (several === null) this.#call(id, name, input, item);
      else
        for (const [index, one] of several.entries()) this.#call(`${id}_${index}`, one.name, one.input, item);
    }
  }

  #call(toolCallId: string, toolName: string, input: string, item: Json): void {
    const itemId = optionalText(item.id, 'id');
    const own = itemId === undefined ? {} : { providerMetadata: { openai: { itemId } } };
    this.#collector.add({ type: 'tool-call', toolCallId, toolName, input, ...own });
  }

  /** Splits a call of the undeclared tool `parallel`, into which models sometimes merge several calls; null if it is no such call. */
  #parallel(input: string): readonly { readonly name: string; readonly input: string }[] | null {
    const parsed = parseJson(input);
    const uses = parsed.ok ? (parsed.value as { tool_uses?: unknown } | null)?.tool_uses : null;
    if (!Array.isArray(uses) || uses.length === 0) return null;
    const names = new Set(this.#tools.map((tool) => tool.name));
    if (names.has('parallel')) return null;
    const calls = uses.map((use: Json | null) => ({
      name: /^functions\.(.+)$/s.exec(String(use?.recipient_name))?.[1] ?? '',
      input: JSON.stringify(use?.parameters),
    }));
    return calls.every((call) => names.has(call.name) && call.input?.startsWith('{')) ? calls : null;
  }

  #finish(response: Json): void {
    const { incomplete_details, usage } = response;
    const raw =
      incomplete_details == null
        ? undefined
        : optionalText(objectAt(incomplete_details, 'incomplete_details').reason, 'reason');
    this.#collector.add({
      type: 'finish',
      finishReason: { unified: this.#unified(raw), raw },
      usage: usageOf(usage),
    });
  }

  #unified(raw: string | undefined) {
    if (raw !== undefined) return INCOMPLETE[raw] ?? (this.#called ? 'tool-calls' : 'other');
    if (this.#called) return 'tool-calls';
    return this.#refused ? 'content-filter' : 'stop';
  }

  end(): void {}
}

function summaryOf(value: Json): number {
  return optionalNumber(value.summary_index, 'summary_index') ?? 0;
}

function usageOf(value: unknown): LanguageModelV4Usage {
  const usage = value == null ? {} : objectAt(value, 'usage');
  const count = (of: unknown, name: string) =>
    of == null ? undefined : optionalNumber(objectAt(of, 'usage')[name], name);
  const { input_tokens_details: read, output_tokens_details: written } = usage;
  return {
    inputTokens: {
      total: count(usage, 'input_tokens'),
      noCache: undefined,
      cacheRead: count(read, 'cached_tokens'),
      cacheWrite: count(read, 'cache_write_tokens'),
    },
    outputTokens: {
      total: count(usage, 'output_tokens'),
      text: undefined,
      reasoning: count(written, 'reasoning_tokens'),
    },
  };
}
