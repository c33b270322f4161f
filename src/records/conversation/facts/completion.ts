import { type JsonObject, parsedObject } from '../../text/json-text.ts';

/** The structured message with which a child reports the end of its work (docs/vocabularies.md). It may have more fields, which are kept. */
export type Completion =
  | { readonly status: 'idle'; readonly success: true; readonly summary: string }
  | Readonly<{ status: 'idle'; success: false; outcome?: string; error: string; partial?: string }>;

/** Signs of the ends that are neither done nor failed. */
const SIGNS: Readonly<Record<string, string>> = { cut_short: '!', declined: '✗', stopped: '✗' };

export function completionFrom(message: string): Completion | null {
  const value = message.trimStart().startsWith('{') ? parsedObject(message) : null;
  return value !== null && isCompletion(value) ? value : null;
}

function isCompletion(value: JsonObject): value is JsonObject & Completion {
  const { status, success, summary, error, partial } = value;
  if (status !== 'idle') return false;
  if (success === true) return typeof summary === 'string' && summary !== '';
  const is_partial = partial === undefined || typeof partial === 'string';
  return success === false && typeof error === 'string' && error !== '' && is_partial;
}

/** One line for people. */
export function completionLine(completion: Completion): string {
  // Older versions wrote `submitted`.
  const { status, success, submitted, outcome, summary, error, partial, ...rest } = completion as JsonObject;
  const word =
    success === false && typeof outcome === 'string' && Object.hasOwn(SIGNS, outcome) ? outcome : null;
  const failed = word === null ? '✗ failed' : `${SIGNS[word]} ${word.replaceAll('_', ' ')}`;
  const line = completion.success ? `✓ done: ${completion.summary}` : `${failed}: ${completion.error}`;
  const more = word === null && outcome !== undefined ? { outcome, ...rest } : rest;
  return Object.keys(more).length === 0 ? line : `${line} ${JSON.stringify(more)}`;
}
