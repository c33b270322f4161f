import { type JsonObject, parsedObject } from '../text/json-text.ts';

/** The structured message with which a child reports the end of its work (docs/vocabularies.md). */
export type Completion =
  | {
      readonly status: 'idle';
      readonly success: true;
      readonly summary: string;
      /** The child did not report; its last text was reported on its behalf. */
      readonly submitted?: false;
    }
  | { readonly status: 'idle'; readonly success: false; readonly error: string; readonly partial?: string };

export type CompletionReading =
  /** An ordinary message. */
  | { readonly type: 'none' }
  | { readonly type: 'completion'; readonly completion: Completion }
  /** A malformed completion. */
  | { readonly type: 'invalid'; readonly error: string };

const SHAPES =
  'write {"status":"idle","success":true,"summary":"…"} or {"status":"idle","success":false,"error":"…","partial":"…"}';

/** A message counts as a completion when it is a JSON object with `status` or `success`. */
export function readCompletion(message: string): CompletionReading {
  const value = objectOf(message);
  if (value === null || !('status' in value || 'success' in value)) return { type: 'none' };
  const { status, success, summary, submitted, error, partial } = value;
  const invalid = (what: string): CompletionReading => ({
    type: 'invalid',
    error: `the completion message ${what}; ${SHAPES}`,
  });
  if (status !== 'idle') return invalid('has no "status": "idle"');
  if (success === true) {
    if (typeof summary !== 'string' || summary === '') return invalid('has no "summary"');
    const marked = submitted === false ? { submitted: false as const } : {};
    return { type: 'completion', completion: { status, success, summary, ...marked } };
  }
  if (success !== false) return invalid('has no "success": true or false');
  if (typeof error !== 'string' || error === '') return invalid('has no "error"');
  if (partial !== undefined && typeof partial !== 'string')
    return invalid('has a "partial" that is not a string');
  const kept = partial === undefined ? {} : { partial };
  return { type: 'completion', completion: { status, success, error, ...kept } };
}

/** The completion in a message; null for an ordinary or malformed one. */
export function completionFrom(message: string): Completion | null {
  const reading = readCompletion(message);
  return reading.type === 'completion' ? reading.completion : null;
}

/** One line for people. */
export function completionLine(completion: Completion): string {
  return completion.success ? `✓ done: ${completion.summary}` : `✗ failed: ${completion.error}`;
}

function objectOf(text: string): JsonObject | null {
  return text.trimStart().startsWith('{') ? parsedObject(text) : null;
}
