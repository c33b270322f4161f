import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { fieldsOf, itemsOf, numberOf, wordOf } from '../../records/text/json-fields.ts';
import { type JsonObject, wellFormedJson } from '../../records/text/json-text.ts';
import type { AnswerCollector } from '../provider/answer-collector.ts';
import type { Quirks } from '../provider/provider-config.ts';
import { breakpoints } from '../provider/provider-prompt.ts';
import { endAnswer, isFinish } from './finish-reason.ts';
import { takeError } from './stream-error.ts';
import {
  argumentsOf,
  BrokenEvent,
  calledName,
  eventType,
  textAt,
  thoughtAt,
  typeIn,
  type WirePiece,
  type WireProtocol,
  type WireReader,
} from './wire-protocol.ts';

/** The end of a message in JSON. */
const END = ']}';

/**
 * Anthropic's Messages protocol. A piece is the content blocks of a message, because adjacent messages of one role are joined. Servers of others send thinking
 * without a signature, and want it back; Anthropic refuses it.
 */
export function anthropicWire(base_url: string | undefined, { omit = [] }: Quirks): WireProtocol {
  const signed =
    omit.includes('messages.thinking') ||
    base_url === undefined ||
    /(^|\.)anthropic\.com$/.test(new URL(base_url).hostname);
  return {
    userMessage: (text) => wellFormedJson({ role: 'user', content: [{ type: 'text', text }] }),
    write: (message) => blocks(message, signed),
    join,
    end: END,
    reader: (collector) => new AnthropicReader(collector),
  };
}

function blocks(message: LanguageModelV4Message, signed: boolean): readonly object[] {
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
        if (data != null) return [{ type: 'redacted_thinking', data }];
        return signed ? [] : [{ type: 'thinking', thinking: part.text }];
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

/** Types of blocks by the field that tells them. */
const BLOCKS = { name: 'tool_use', text: 'text', thinking: 'thinking', data: 'redacted_thinking' };

interface OpenCall {
  readonly id: string;
  readonly name: string;
  /** Arguments that came with the start of the block: pieces that follow repeat them. */
  readonly given: string;
  input: string;
}

class AnthropicReader implements WireReader {
  readonly #collector: AnswerCollector;
  /** Open blocks by index; null: one of a type that is not for us. */
  readonly #blocks = new Map<string, OpenCall | 'said' | null>();
  #latest = '0';
  #next = '0';
  #message: string | undefined;
  #usage: JsonObject = {};
  #reason: string | undefined;
  #begun = false;

  constructor(collector: AnswerCollector) {
    this.#collector = collector;
  }

  event(value: JsonObject, name: string): void {
    switch (eventType(value, name)) {
      case 'content_block_delta':
        return this.#delta(this.#place(value), fieldsOf(value.delta));
      case 'content_block_start':
        return this.#start(this.#place(value, this.#next), fieldsOf(value.content_block));
      case 'content_block_stop':
        return this.#stop(this.#place(value));
      case 'message_start':
        return this.#begin(fieldsOf(value.message));
      case 'message_delta':
        this.#turn(fieldsOf(value.delta));
        return this.#turn(value);
      case 'message_stop':
        return this.#finish();
      case 'error':
        return takeError(value, this.#collector);
    }
  }

  whole(message: JsonObject): void {
    this.#begin(message);
    for (const [index, block] of itemsOf(message.content).entries()) {
      this.#start(`${index}`, fieldsOf(block));
      this.#stop(`${index}`);
    }
    this.#turn(message);
    this.#finish();
  }

  /** Some servers leave out the index, which then is that of the newest block. */
  #place({ index }: JsonObject, otherwise = this.#latest): string {
    this.#latest = wordOf(index) ?? otherwise;
    this.#next = `${Number(this.#latest) + 1}`;
    return this.#latest;
  }

  #begin(message: JsonObject): void {
    const id = wordOf(message.id);
    if (this.#begun && this.#message !== id)
      throw new BrokenEvent('another message begins before the end of the first');
    this.#message = id;
    this.#begun = true;
    this.#count(message.usage);
  }

  /** Takes how the answer ends and what it used, which some servers send in `delta`. */
  #turn({ stop_reason, usage }: JsonObject): void {
    const reason = wordOf(stop_reason);
    if (isFinish(reason)) this.#reason = reason;
    this.#count(usage);
  }

  #count(usage: unknown): void {
    const told = Object.entries(fieldsOf(usage)).filter(([, count]) => count !== null);
    this.#usage = { ...this.#usage, ...Object.fromEntries(told) };
  }

  #start(id: string, block: JsonObject): void {
    if (this.#blocks.has(id)) return;
    const type = typeIn(block, BLOCKS);
    if (type === 'tool_use') {
      const name = calledName(block.name);
      const given = argumentsOf(block.input);
      const call = {
        id: wordOf(block.id) ?? `call_${id}`,
        name,
        given: given === '{}' ? '' : given,
        input: '',
      };
      this.#blocks.set(id, call);
      this.#collector.add({ type: 'tool-input-start', id, toolName: name });
      return;
    }
    if (type === 'redacted_thinking') {
      const providerMetadata = { anthropic: { redactedData: textAt(block.data, 'data') } };
      this.#collector.add({ type: 'reasoning-start', id, providerMetadata });
    } else if (type === 'text' || type === 'thinking') {
      this.#blocks.set(id, 'said');
      this.#collector.add({ type: type === 'text' ? 'text-start' : 'reasoning-start', id });
      this.#delta(id, block);
    } else if (type !== undefined) this.#blocks.set(id, null);
  }

  /** The fields tell what a piece is: some servers send the first piece in the start of its block, or no start at all. */
  #delta(id: string, { text, thinking, signature, partial_json }: JsonObject): void {
    const block = this.#blocks.get(id);
    if (block === null) return;
    const said = textAt(text, 'text');
    if (said !== '') this.#collector.add({ type: 'text-delta', id, delta: said });
    const sealed = wordOf(signature);
    const thought = thoughtAt(thinking);
    if (thought !== '' || sealed !== undefined) {
      const own = sealed === undefined ? {} : { providerMetadata: { anthropic: { signature: sealed } } };
      this.#collector.add({ type: 'reasoning-delta', id, delta: thought, ...own });
    }
    if (partial_json === undefined || partial_json === null) return;
    if (typeof block !== 'object') throw new BrokenEvent('a call has no name');
    const delta = argumentsOf(partial_json);
    block.input += delta;
    this.#collector.add({ type: 'tool-input-delta', id, delta });
  }

  #stop(id: string): void {
    const call = this.#blocks.get(id);
    this.#blocks.delete(id);
    if (call === undefined || call === null || call === 'said') return;
    const { id: toolCallId, name: toolName, given, input } = call;
    this.#collector.add({ type: 'tool-call', toolCallId, toolName, input: input || given || '{}' });
  }

  #finish(): void {
    // Some servers end no blocks.
    for (const id of [...this.#blocks.keys()]) this.#stop(id);
    const usage = this.#usage;
    const count = (name: string) => numberOf(usage[name]) ?? 0;
    const written = count('cache_creation_input_tokens');
    endAnswer(this.#collector, this.#reason, {
      input: count('input_tokens') + count('cache_read_input_tokens') + written,
      ...{ cached: numberOf(usage.cache_read_input_tokens), written },
      output: count('output_tokens'),
      reasoning: numberOf(fieldsOf(usage.output_tokens_details).thinking_tokens),
    });
  }

  end(done: boolean): void {
    if (!this.#collector.finished && (this.#reason !== undefined || (done && this.#collector.begun)))
      this.#finish();
  }
}
