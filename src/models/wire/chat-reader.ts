import type { JSONObject } from '@ai-sdk/provider';
import { StreamingToolCallTracker } from '@ai-sdk/provider-utils';
import { fieldsOf, itemsOf, numberOf, wordOf } from '../../records/text/json-fields.ts';
import { isJsonObject, type JsonObject } from '../../records/text/json-text.ts';
import type { AnswerCollector } from '../provider/answer-collector.ts';
import { endAnswer, isFinish } from './finish-reason.ts';
import { takeError } from './stream-error.ts';
import { argumentsOf, BrokenEvent, OneChoice, textAt, thoughtAt, type WireReader } from './wire-protocol.ts';

/** Key, in the metadata of a thought, of how it came: it goes back in the same way. */
export const THOUGHTS = 'thoughts';
/** Some models write their thoughts into the text, between these tags. */
export const TAG = 'think';

export interface Thoughts {
  /** The field of the message, or `TAG`. */
  readonly field?: string;
  /** OpenRouter's form, which goes back unchanged. */
  readonly details?: readonly JsonObject[];
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
export class ChatReader implements WireReader {
  readonly #collector: AnswerCollector;
  readonly #provider: string;
  readonly #tracker: StreamingToolCallTracker<CallDelta>;
  /** Pieces of calls that have no name yet, by index. */
  readonly #nameless = new Map<number, CallDelta>();
  readonly #begun = new Set<number>();
  readonly #choice = new OneChoice();
  #open: 'text' | 'reasoning' | null = null;
  #finish: string | undefined;
  #named = false;
  #refused = false;
  #usage: unknown;
  #details: JsonObject[] = [];
  readonly #tag = new ThoughtTag(TAG);

  constructor(collector: AnswerCollector, provider: string) {
    this.#collector = collector;
    this.#provider = provider;
    this.#tracker = new StreamingToolCallTracker<CallDelta>(
      {
        enqueue: (part) => {
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

  event(value: JsonObject, name: string): void {
    const first = this.#choice.of(value.choices);
    const error = value.error ?? first.error ?? (name === 'error' ? value : null);
    if (error !== null) return takeError({ ...value, error }, this.#collector);
    if (value.usage != null) this.#usage = fieldsOf(value.usage);
    const reason = wordOf(first.finish_reason);
    if (isFinish(reason)) this.#finish = reason;
    const delta = fieldsOf(first.delta);
    // Some servers send the whole message instead of its last piece.
    this.#delta(Object.keys(delta).length > 0 || this.#collector.begun ? delta : fieldsOf(first.message));
  }

  #delta(delta: JsonObject): void {
    const details = itemsOf(delta.reasoning_details).filter(isJsonObject);
    this.#details = details.reduce(addDetail, this.#details);
    const field = delta.reasoning_content == null ? 'reasoning' : 'reasoning_content';
    this.#say('reasoning', thoughtAt(delta[field] ?? details), field);
    if (typeof delta.content === 'object') this.#pieces(itemsOf(delta.content));
    else this.#text(textAt(delta.content, 'content'));
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
      if (piece.thinking === undefined) this.#text(textAt(piece.text, 'text'));
      else this.#say('reasoning', thoughtAt(piece.thinking));
    }
  }

  #text(delta: string): void {
    if (delta === '') return;
    for (const [type, text] of this.#tag.split(delta)) this.#say(type, text, TAG);
  }

  /** `field`: how a thought came. */
  #say(type: 'text' | 'reasoning', delta: string, field = 'reasoning_content'): void {
    if (delta === '') return;
    if (this.#open !== type) {
      const named = type === 'reasoning' && field !== 'reasoning_content';
      const own = named ? { providerMetadata: { [this.#provider]: { [THOUGHTS]: { field } } } } : {};
      this.#collector.add({ type: `${type}-start`, id: '0', ...own });
    }
    this.#open = type;
    this.#collector.add({ type: `${type}-delta`, id: '0', delta });
  }

  #call(call: JsonObject): void {
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
    for (const [type, text] of this.#tag.rest()) this.#say(type, text, TAG);
    if (this.#finish === undefined && !(done && this.#collector.begun)) return;
    if (this.#details.length > 0) {
      const details = this.#details as JSONObject[];
      const providerMetadata = { [this.#provider]: { [THOUGHTS]: { field: 'reasoning', details } } };
      this.#collector.add({ type: 'reasoning-delta', id: '0', delta: '', providerMetadata });
    }
    this.#tracker.flush();
    // The tracker drops them; who made them is told that there is no such tool.
    for (const [index, { id, function: called }] of this.#nameless) {
      const input = called.arguments || '{}';
      const toolCallId = id ?? `call_${index}`;
      this.#collector.add({ type: 'tool-call', toolCallId, toolName: '', input });
    }
    const usage = fieldsOf(this.#usage);
    const tokens = {
      input: numberOf(usage.prompt_tokens),
      cached: numberOf(fieldsOf(usage.prompt_tokens_details).cached_tokens),
      output: numberOf(usage.completion_tokens),
      reasoning: numberOf(fieldsOf(usage.completion_tokens_details).reasoning_tokens),
    };
    endAnswer(this.#collector, this.#finish, tokens, this.#refused);
  }
}

/** Adds a piece of a thought; pieces of one thought are joined. */
function addDetail(all: JsonObject[], next: JsonObject): JsonObject[] {
  const last = all.at(-1);
  if (last === undefined || last.type !== next.type || last.index !== next.index) return [...all, next];
  const joined = ['text', 'summary', 'data'].flatMap((key) =>
    typeof last[key] === 'string' && typeof next[key] === 'string'
      ? [[key, last[key] + next[key]] as const]
      : [],
  );
  return joined.length === 0
    ? [...all, next]
    : [...all.slice(0, -1), { ...last, ...next, ...Object.fromEntries(joined) }];
}

type Piece = readonly [type: 'text' | 'reasoning', text: string];

/** Splits a text that begins with `<TAG>…</TAG>` into the thought and the text after it, however it is cut into pieces. */
class ThoughtTag {
  readonly #open: string;
  readonly #close: string;
  #place: 'before' | 'within' | 'after' = 'before';
  /** What may be the beginning of a tag. */
  #held = '';

  constructor(tag: string) {
    this.#open = `<${tag}>`;
    this.#close = `</${tag}>`;
  }

  split(piece: string): readonly Piece[] {
    const text = this.#held + piece;
    this.#held = '';
    if (this.#place === 'after') return [['text', text]];
    if (this.#place === 'before') {
      const begun = text.trimStart();
      if (begun.length < this.#open.length && this.#open.startsWith(begun)) {
        this.#held = text;
        return [];
      }
      this.#place = begun.startsWith(this.#open) ? 'within' : 'after';
      return this.split(this.#place === 'within' ? begun.slice(this.#open.length) : text);
    }
    const end = text.indexOf(this.#close);
    if (end >= 0) {
      const after = text.slice(end + this.#close.length).trimStart();
      // Blank lines after a thought may come in pieces.
      if (after !== '') this.#place = 'after';
      else this.#held = this.#close;
      return [['reasoning', text.slice(0, end)], ...(after === '' ? [] : [['text', after] as const])];
    }
    const from = heldFrom(text, this.#close);
    this.#held = text.slice(from);
    return [['reasoning', text.slice(0, from)]];
  }

  /** What was held when the text ended. */
  rest(): readonly Piece[] {
    const held = this.#held === this.#close ? '' : this.#held;
    this.#held = '';
    return held === '' ? [] : [[this.#place === 'within' ? 'reasoning' : 'text', held]];
  }
}

/** Where the end of a text begins that may be the beginning of a tag. */
function heldFrom(text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length -= 1)
    if (tag.startsWith(text.slice(-length))) return text.length - length;
  return text.length;
}
