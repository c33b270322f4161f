import { fieldsOf, itemsOf, numberOf, wordOf } from '../../records/text/json-fields.ts';
import type { JsonObject } from '../../records/text/json-text.ts';
import type { AnswerCollector } from '../provider/answer-collector.ts';
import { endAnswer } from './finish-reason.ts';
import { takeError } from './stream-error.ts';
import {
  argumentsOf,
  calledName,
  eventType,
  textAt,
  thoughtAt,
  typeIn,
  type WireReader,
} from './wire-protocol.ts';

/** Types of items by the field that tells them. */
const ITEMS = {
  call_id: 'function_call',
  arguments: 'function_call',
  content: 'message',
  summary: 'reasoning',
};

/** Reads the events of OpenAI Responses, or a whole response. */
export class ResponsesReader implements WireReader {
  readonly #collector: AnswerCollector;
  /** Item ids may change between events, output indexes do not; some servers omit indexes, some ids. */
  readonly #places = new Map<string, number>();
  #latest = 0;
  /** Reasoning items by output index. The last summary of an item carries the encrypted content. */
  readonly #reasoning = new Map<number, { readonly itemId: string | undefined; last: number }>();
  /** What has come: `text PLACE`, `reasoning PLACE`, `done PLACE`, and ids of calls. What repeats it as a whole adds nothing. */
  readonly #said = new Set<string>();
  /** Arguments of calls by output index, as far as they have come in pieces. */
  readonly #inputs = new Map<number, string>();
  /** Number of calls that have come, by name and arguments, and calls whose arguments have not. */
  readonly #calls = new Map<string, number>();
  readonly #vague: JsonObject[] = [];
  #message: string | undefined;
  #phase: string | undefined;
  #refused = false;
  #begun = false;

  constructor(collector: AnswerCollector) {
    this.#collector = collector;
  }

  event(value: JsonObject, name: string): void {
    switch (eventType(value, name)) {
      case 'response.refusal.delta':
        this.#refused = true;
        return this.#text('text', this.#place(value), '', value.delta);
      case 'response.output_text.delta':
        return this.#text('text', this.#place(value), '', value.delta);
      case 'response.refusal.done':
        this.#refused = true;
        return this.#whole('text', this.#place(value), value.refusal);
      case 'response.output_text.done':
        return this.#whole('text', this.#place(value), value.text);
      case 'response.reasoning_summary_text.delta':
        return this.#text('reasoning', this.#place(value), `:${summaryOf(value)}`, value.delta);
      case 'response.reasoning_summary_part.added':
        // The first summary starts with its item.
        if (summaryOf(value) > 0) this.#summary(this.#place(value), summaryOf(value));
        return;
      case 'response.function_call_arguments.delta': {
        const place = this.#place(value);
        this.#inputs.set(place, (this.#inputs.get(place) ?? '') + argumentsOf(value.delta));
        return this.#collector.add({
          type: 'tool-input-delta',
          id: `${place}`,
          delta: argumentsOf(value.delta),
        });
      }
      case 'response.output_item.added':
        return this.#added(this.#placeOf(value, this.#begun ? this.#latest + 1 : 0), fieldsOf(value.item));
      case 'response.output_item.done': {
        const next = this.#said.has(`done ${this.#latest}`) ? this.#latest + 1 : this.#latest;
        return this.#done(this.#placeOf(value, next), fieldsOf(value.item));
      }
      case 'response.completed':
      case 'response.done':
      case 'response.incomplete':
        return this.whole(fieldsOf(value.response));
      case 'response.failed':
      case 'error':
        return takeError(value, this.#collector);
    }
  }

  /** Also the last event of a stream: some servers send the answer only there. */
  whole(response: JsonObject): void {
    if (response.error != null) return takeError(response, this.#collector);
    const said = [...this.#said].join();
    const output = itemsOf(response.output).map(fieldsOf);
    const isCall = (item: JsonObject) => typeIn(item, ITEMS) === 'function_call';
    const known = new Map(this.#calls);
    const streamed = [...known.values()].reduce((sum, one) => sum + one, 0);
    let missing = output.filter(isCall).length - streamed;
    for (const [place, item] of output.entries()) {
      // What came in pieces is not added again: neither texts nor calls, whose ids may be missing or differ.
      if (isCall(item)) {
        const key = callKey(item.name, argumentsOf(item.arguments));
        const left = known.get(key) ?? 0;
        if (left > 0) known.set(key, left - 1);
        else if (missing > 0) {
          missing -= 1;
          this.#vague.shift();
          this.#done(place, item);
        }
      } else if (!said.includes(typeIn(item, ITEMS) === 'message' ? 'text ' : 'reasoning '))
        this.#done(place, item);
    }
    const raw = wordOf(fieldsOf(response.incomplete_details).reason);
    this.#finish(raw, fieldsOf(response.usage));
  }

  #text(type: 'text' | 'reasoning', place: number, suffix: string, delta: unknown): void {
    const text = type === 'reasoning' ? thoughtAt(delta) : textAt(delta, 'delta');
    if (text === '') return;
    this.#said.add(`${type} ${place}`);
    this.#collector.add({ type: `${type}-delta`, id: `${place}${suffix}`, delta: text });
  }

  /** Takes a text that came as a whole, unless its pieces came before. */
  #whole(type: 'text' | 'reasoning', place: number, text: unknown): void {
    if (!this.#said.has(`${type} ${place}`)) this.#text(type, place, type === 'text' ? '' : ':0', text);
  }

  #place({ output_index, item_id }: JsonObject, otherwise = this.#latest): number {
    this.#latest = numberOf(output_index) ?? this.#places.get(wordOf(item_id) ?? '') ?? otherwise;
    return this.#latest;
  }

  #placeOf({ output_index, item }: JsonObject, otherwise: number): number {
    return this.#place({ output_index, item_id: fieldsOf(item).id }, otherwise);
  }

  #added(place: number, item: JsonObject): void {
    this.#begun = true;
    const itemId = wordOf(item.id);
    if (itemId !== undefined) this.#places.set(itemId, place);
    const type = typeIn(item, ITEMS);
    if (type === 'reasoning' && !this.#reasoning.has(place)) {
      this.#reasoning.set(place, { itemId, last: 0 });
      this.#summary(place, 0);
    } else if (type === 'message') {
      this.#message = itemId;
      this.#phase = wordOf(item.phase);
      if (!this.#said.has(`text ${place}`))
        this.#collector.add({
          type: 'text-start',
          id: `${place}`,
          providerMetadata: { openai: this.#own(item) },
        });
    }
  }

  #own(item: JsonObject): Record<string, string> {
    const phase = wordOf(item.phase) ?? this.#phase;
    return {
      ...(this.#message === undefined ? {} : { itemId: this.#message }),
      ...(phase === undefined ? {} : { phase }),
    };
  }

  #summary(place: number, index: number): void {
    const known = this.#reasoning.get(place);
    if (known === undefined) return;
    known.last = index;
    const providerMetadata = known.itemId === undefined ? {} : { openai: { itemId: known.itemId } };
    this.#collector.add({ type: 'reasoning-start', id: `${place}:${index}`, providerMetadata });
  }

  #done(place: number, item: JsonObject): void {
    this.#begun = true;
    this.#said.add(`done ${place}`);
    const type = typeIn(item, ITEMS);
    if (type === 'reasoning') {
      if (!this.#reasoning.has(place)) this.#added(place, item);
      const { itemId, last } = this.#reasoning.get(place) ?? { itemId: undefined, last: 0 };
      for (const one of itemsOf(item.summary)) this.#whole('reasoning', place, fieldsOf(one).text);
      const reasoningEncryptedContent = wordOf(item.encrypted_content) ?? null;
      const own = itemId === undefined ? {} : { itemId };
      const providerMetadata = { openai: { ...own, reasoningEncryptedContent } };
      this.#collector.add({ type: 'reasoning-end', id: `${place}:${last}`, providerMetadata });
    } else if (type === 'message') {
      const texts = itemsOf(item.content).map((part) => {
        const { type, text, refusal } = typeof part === 'string' ? { text: part } : fieldsOf(part);
        this.#refused ||= type === 'refusal';
        return textAt(text ?? refusal, 'content');
      });
      this.#whole('text', place, texts.join(''));
      const providerMetadata = { openai: this.#own(item) };
      this.#collector.add({ type: 'text-end', id: `${place}`, providerMetadata });
    } else if (type === 'function_call') {
      const given =
        (typeof item.arguments === 'number' ? '' : argumentsOf(item.arguments)) || this.#inputs.get(place);
      const name = calledName(item.name);
      // Its arguments may come with the whole answer.
      if (given === undefined && item.arguments == null) return void this.#vague.push(item);
      const input = given || '{}';
      this.#calls.set(callKey(name, input), (this.#calls.get(callKey(name, input)) ?? 0) + 1);
      const id = wordOf(item.call_id) ?? wordOf(item.id) ?? `call_${place}`;
      if (this.#said.has(`${id} ${name} ${input}`)) return;
      this.#said.add(`${id} ${name} ${input}`);
      const itemId = wordOf(item.id);
      const own = itemId === undefined ? {} : { providerMetadata: { openai: { itemId } } };
      this.#collector.add({ type: 'tool-call', toolCallId: id, toolName: name, input, ...own });
    }
  }

  #finish(raw: string | undefined, usage: JsonObject): void {
    for (const [at, item] of this.#vague.entries()) this.#done(-1 - at, { ...item, arguments: '{}' });
    const read = fieldsOf(usage.input_tokens_details);
    const tokens = {
      input: numberOf(usage.input_tokens),
      cached: numberOf(read.cached_tokens),
      written: numberOf(read.cache_write_tokens),
      output: numberOf(usage.output_tokens),
      reasoning: numberOf(fieldsOf(usage.output_tokens_details).reasoning_tokens),
    };
    endAnswer(this.#collector, raw, tokens, this.#refused);
  }

  end(done: boolean): void {
    if (!this.#collector.finished && done && this.#begun) this.#finish(undefined, {});
  }
}

function callKey(name: unknown, input: string): string {
  return `${wordOf(name)} ${input || '{}'}`;
}

function summaryOf(value: JsonObject): number {
  return numberOf(value.summary_index) ?? 0;
}
