import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { fieldsOf, itemsOf, numberOf, wordOf } from '../../records/text/json-fields.ts';
import type { JsonObject } from '../../records/text/json-text.ts';
import type { AnswerCollector } from '../provider/answer-collector.ts';
import { UnusableAnswer } from '../provider/http-fetch.ts';

/** One serialized message: JSON to be joined with commas. */
export interface WirePiece {
  readonly role: LanguageModelV4Message['role'];
  readonly json: string;
}

/**
 * Decodes the events of one answer into its collector. A field that the answer does not need may be missing, null or of another type. Throws `BrokenEvent`
 * where something needed is missing or cannot be read.
 */
export interface WireReader {
  /** `name`: the event's name in the stream; empty if it has none. */
  event(value: JsonObject, name: string): void;
  /** Takes a whole answer, from a server that does not stream; without it, that is one event. */
  whole?(value: JsonObject): void;
  /** Whether the answer is complete but for what may still follow, such as its usage. */
  readonly closing?: boolean;
  /** Called when the stream has ended. `done`: whether the server has said that this is all (`[DONE]`). */
  end(done: boolean): void;
}

/**
 * The parts of a provider's protocol that we implement: serializing messages and decoding events. The rest of a request (model-dependent options,
 * headers, tools) comes from the provider package (`request-frames.ts`).
 */
export interface WireProtocol {
  /** How the package serializes a user message with only this text. */
  readonly userMessage: (text: string) => string;
  /** The parts of a message that are serialized one by one. */
  readonly write: (message: LanguageModelV4Message) => readonly object[];
  /**
   * Joins the pieces from `from` (inclusive) to `to` (exclusive); the first `inherited`
   * are shared. All pieces joined and followed by `end` are complete messages.
   */
  readonly join: (pieces: readonly WirePiece[], from: number, to: number, inherited: number) => string;
  readonly end: string;
  readonly reader: (collector: AnswerCollector) => WireReader;
}

/** An answer that lacks something needed, or has it in a form that cannot be read: it would be the same at the next try. */
export class BrokenEvent extends UnusableAnswer {
  constructor(what: string) {
    super(`the answer of the server cannot be read: ${what}`);
  }
}

/** Joins messages that are serialized independently. */
export const ALONE: Pick<WireProtocol, 'join' | 'end'> = {
  join: (pieces, from, to) => {
    let text = '';
    for (let index = from; index < to; index += 1) text += `${index === 0 ? '' : ','}${pieces[index]?.json}`;
    return text;
  },
  end: '',
};

/** Text for a model or a person: nothing may be lost of it, so what cannot be read as text is an error. Throws `BrokenEvent`. */
export function textAt(value: unknown, what: string): string {
  if (typeof value === 'object' && value !== null) throw new BrokenEvent(`${what} is not text`);
  return wordOf(value) ?? '';
}

/** A thought, which no answer needs: of what is not text, the texts in it. */
export function thoughtAt(value: unknown): string {
  const texts = itemsOf(value).map((one) => {
    const { text, summary, content } = fieldsOf(one);
    return wordOf(one) ?? wordOf(text) ?? wordOf(summary) ?? wordOf(content) ?? '';
  });
  return texts.join('');
}

/** The name of a tool that is called; one that is missing is empty, and the model is told that there is no such tool. */
export function calledName(value: unknown): string {
  return wordOf(value) ?? '';
}

/** The type of an event; where its data does not say it, its name in the stream. Throws `BrokenEvent` if neither does, and the event says something. */
export function eventType(value: JsonObject, name: string): string {
  if (typeof value.type === 'string') return value.type;
  if (Array.isArray(value.choices))
    throw new BrokenEvent('the server speaks Chat Completions: its type is openai-compatible');
  if (value.error !== undefined && value.error !== null) return 'error';
  const says = ['delta', 'content_block', 'item'].some((field) => value[field] !== undefined);
  if (name === '' && says) throw new BrokenEvent('an event has no type');
  return name;
}

/** The type of a block or an item; where a server does not say it, that of the first field which it has. */
export function typeIn(value: JsonObject, fields: Readonly<Record<string, string>>): string | undefined {
  if (typeof value.type === 'string') return value.type;
  return Object.entries(fields).find(([field]) => value[field] !== undefined)?.[1];
}

/** Which of several answers to one request is read: the one that came first, whatever a server sends beside it. */
export class OneChoice {
  #index: number | undefined;

  /** What an event has of it; empty if it is about another one. */
  of(choices: unknown): JsonObject {
    for (const item of itemsOf(choices)) {
      const choice = fieldsOf(item);
      const index = numberOf(choice.index);
      this.#index ??= index;
      if (index === undefined || index === this.#index) return choice;
    }
    return {};
  }
}

/** Arguments of a call, as JSON text or as the object itself. */
export function argumentsOf(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : (wordOf(value) ?? '');
}
