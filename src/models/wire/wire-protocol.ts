import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { isJsonObject } from '../../records/text/json-text.ts';
import type { ToolSpec } from '../../records/tool.ts';
import type { AnswerCollector } from '../provider/answer-collector.ts';

/** A JSON object before validation. */
export type Json = Readonly<Record<string, unknown>>;

/** One serialized message: JSON to be joined with commas. */
export interface WirePiece {
  readonly role: LanguageModelV4Message['role'];
  readonly json: string;
}

/** Decodes the events of one answer into its collector. Throws `BrokenEvent` for one that violates the protocol. */
export interface WireReader {
  event(value: Json): void;
  /** Whether the answer is complete but for what may still follow, such as its usage. */
  readonly closing?: boolean;
  /** Called when the stream has ended. */
  end(): void;
}

/**
 * The parts of a provider's protocol that we implement: serializing messages and decoding events. The rest of a request (model-dependent options,
 * headers, tools) comes from the provider package (`request-frames.ts`).
 */
export interface WireProtocol {
  /** How the package serializes a user message with only this text. */
  readonly userMessage: (text: string) => string;
  readonly write: (message: LanguageModelV4Message) => string;
  /**
   * Joins the pieces from `from` (inclusive) to `to` (exclusive); the first `inherited`
   * are shared. All pieces joined and followed by `end` are complete messages.
   */
  readonly join: (pieces: readonly WirePiece[], from: number, to: number, inherited: number) => string;
  readonly end: string;
  readonly reader: (collector: AnswerCollector, tools: readonly ToolSpec[], provider: string) => WireReader;
}

export class BrokenEvent extends Error {
  override readonly name = 'BrokenEvent';
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

export function objectAt(value: unknown, what: string): Json {
  if (isJsonObject(value)) return value;
  throw new BrokenEvent(`${what} is not an object`);
}

export function textAt(value: unknown, what: string): string {
  if (typeof value === 'string') return value;
  throw new BrokenEvent(`${what} is not a string`);
}

export function optionalText(value: unknown, what: string): string | undefined {
  return value === undefined || value === null ? undefined : textAt(value, what);
}

export function listAt(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new BrokenEvent(`${what} is not an array`);
}

export function optionalNumber(value: unknown, what: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number') return value;
  throw new BrokenEvent(`${what} is not a number`);
}
