import type { LanguageModelV4Message } from '@ai-sdk/provider';
import type { AnswerCollector } from '../provider/answer-collector.ts';
import { breakpoints } from '../provider/provider-prompt.ts';
import { takeError } from './stream-error.ts';
import {
  BrokenEvent,
  type Json,
  objectAt,
  optionalNumber,
  optionalText,
  textAt,
  type WirePiece,
  type WireProtocol,
  type WireReader,
} from './wire-protocol.ts';

/** The end of a message in JSON. */
const END = ']}';

/** Anthropic's Messages protocol. A piece is the content blocks of a message, because adjacent messages of one role are joined. */
export const ANTHROPIC_WIRE: WireProtocol = {
  userMessage: (text) => JSON.stringify({ role: 'user', content: [{ type: 'text', text }] }),
  write: (message) =>
    blocks(message)
      .map((block) => JSON.stringify(block))
      .join(','),
  join,
  end: END,
  reader: (collector) => new AnthropicReader(collector),
};

function blocks(message: LanguageModelV4Message): readonly object[] {
  switch (message.role) {
    case 'system':
      return [];
    case 'user':
      return message.content.map((part) => {
        if (part.type === 'text') return { type: 'text', text: part.text };
        const { data } = part.data as { readonly data: string };
        return { type: 'image', source: { type: 'base64', media_type: part.mediaType, data } };
      });
    case 'assistant':
      return message.content.flatMap((part): object[] => {
        if (part.type === 'text') return [{ type: 'text', text: part.text }];
        if (part.type === 'tool-call')
          return [{ type: 'tool_use', id: part.toolCallId, name: part.toolName, input: part.input }];
        if (part.type !== 'reasoning') return [];
        const { signature, redactedData: data } = part.providerOptions?.anthropic ?? {};
        if (signature != null) return [{ type: 'thinking', thinking: part.text, signature }];
        return data == null ? [] : [{ type: 'redacted_thinking', data }];
      });
    case 'tool':
      return message.content.flatMap((part) => {
        if (part.type !== 'tool-result' || !('value' in part.output)) return [];
        const { toolCallId: tool_use_id, output } = part;
        const is_error = output.type === 'error-text' ? { is_error: true } : {};
        return [{ type: 'tool_result', tool_use_id, content: output.value, ...is_error }];
      });
  }
}

const BREAKPOINT = ',"cache_control":{"type":"ephemeral"}}';

const sender = (role: WirePiece['role']) => (role === 'assistant' ? 'assistant' : 'user');

/** A cache breakpoint is set in the last block of its message. */
function join(pieces: readonly WirePiece[], from: number, to: number, inherited: number): string {
  const marks = breakpoints(pieces, inherited - 1);
  let text = '';
  for (let index = from; index < to; index += 1) {
    const { role, json } = pieces[index] as WirePiece;
    const before = pieces[index - 1];
    const own = marks.has(index) ? json.slice(0, -1) + BREAKPOINT : json;
    if (before !== undefined && sender(before.role) === sender(role)) text += `,${own}`;
    else text += `${index === 0 ? '' : `${END},`}{"role":"${sender(role)}","content":[${own}`;
  }
  return text;
}

const FINISH: Readonly<Record<string, 'stop' | 'length' | 'content-filter' | 'tool-calls'>> = {
  pause_turn: 'stop',
  end_turn: 'stop',
  stop_sequence: 'stop',
  refusal: 'content-filter',
  tool_use: 'tool-calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
};

interface OpenCall {
  readonly id: string;
  readonly name: string;
  input: string;
}

class AnthropicReader implements WireReader {
  readonly #collector: AnswerCollector;
  readonly #calls = new Map<unknown, OpenCall>();
  #message: string | null | undefined;
  #usage: Json = {};
  #reason: string | undefined;
  #spoken = false;

  constructor(collector: AnswerCollector) {
    this.#collector = collector;
  }

  event(value: Json): void {
    switch (value.type) {
      case 'content_block_delta':
        this.#spoken = true;
        return this.#delta(`${value.index}`, objectAt(value.delta, 'delta'));
      case 'content_block_start':
        return this.#start(`${value.index}`, objectAt(value.content_block, 'content_block'));
      case 'content_block_stop':
        return this.#stop(`${value.index}`);
      case 'message_start':
        return this.#begin(objectAt(value.message, 'message'));
      case 'message_delta': {
        this.#reason = optionalText(objectAt(value.delta, 'delta').stop_reason, 'stop_reason');
        const told = Object.entries(objectAt(value.usage, 'usage')).filter(([, count]) => count !== null);
        this.#usage = { ...this.#usage, ...Object.fromEntries(told) };
        return;
      }
      case 'message_stop':
        return this.#finish();
      case 'error':
        return takeError(value, this.#spoken, this.#collector);
      default:
        // `ping`, and new types of events.
        textAt(value.type, 'type');
        return;
    }
  }

  #begin(message: Json): void {
    const id = optionalText(message.id, 'id') ?? null;
    if (this.#message === id) return;
    if (this.#message !== undefined)
      throw new BrokenEvent('another message begins before the end of the first');
    this.#message = id;
    this.#usage = objectAt(message.usage, 'usage');
  }

  #start(id: string, block: Json): void {
    switch (block.type) {
      case 'text':
        return this.#collector.add({ type: 'text-start', id });
      case 'thinking':
        return this.#collector.add({ type: 'reasoning-start', id });
      case 'redacted_thinking': {
        const providerMetadata = { anthropic: { redactedData: textAt(block.data, 'data') } };
        return this.#collector.add({ type: 'reasoning-start', id, providerMetadata });
      }
      case 'tool_use': {
        const given = JSON.stringify(block.input ?? {});
        const call = {
          id: textAt(block.id, 'id'),
          name: textAt(block.name, 'name'),
          input: given === '{}' ? '' : given,
        };
        this.#calls.set(id, call);
        return;
      }
    }
  }

  #delta(id: string, delta: Json): void {
    switch (delta.type) {
      case 'text_delta':
        return this.#collector.add({ type: 'text-delta', id, delta: textAt(delta.text, 'text') });
      case 'thinking_delta':
        return this.#collector.add({
          type: 'reasoning-delta',
          id,
          delta: textAt(delta.thinking, 'thinking'),
        });
      case 'signature_delta': {
        const providerMetadata = { anthropic: { signature: textAt(delta.signature, 'signature') } };
        return this.#collector.add({ type: 'reasoning-delta', id, delta: '', providerMetadata });
      }
      case 'input_json_delta': {
        const call = this.#calls.get(id);
        if (call === undefined) return;
        const piece = textAt(delta.partial_json, 'partial_json');
        call.input += piece;
        return this.#collector.add({ type: 'tool-input-delta', id, delta: piece });
      }
    }
  }

  #stop(id: string): void {
    const call = this.#calls.get(id);
    if (call === undefined) return;
    this.#calls.delete(id);
    const { id: toolCallId, name: toolName, input } = call;
    this.#collector.add({ type: 'tool-call', toolCallId, toolName, input: input === '' ? '{}' : input });
  }

  #finish(): void {
    const usage = this.#usage;
    this.#message = undefined;
    const count = (name: string) => optionalNumber(usage[name], name) ?? 0;
    const [cacheRead, cacheWrite] = [count('cache_read_input_tokens'), count('cache_creation_input_tokens')];
    const noCache = count('input_tokens');
    const details = usage.output_tokens_details == null ? {} : objectAt(usage.output_tokens_details, 'usage');
    this.#collector.add({
      type: 'finish',
      finishReason: { unified: FINISH[this.#reason ?? ''] ?? 'other', raw: this.#reason },
      usage: {
        inputTokens: { total: noCache + cacheRead + cacheWrite, noCache, cacheRead, cacheWrite },
        outputTokens: {
          total: count('output_tokens'),
          text: undefined,
          reasoning: optionalNumber(details.thinking_tokens, 'thinking_tokens'),
        },
      },
    });
  }

  end(): void {}
}
