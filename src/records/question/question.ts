import { isJsonObject, parseJson } from '../text/json-text.ts';
import type { FormField, FormValue } from './form-field.ts';

/** What a tool asks a person in the middle of its work. */
export interface Question {
  /** Who asks, for people: `the MCP server tracker`. */
  readonly asker: string;
  /** Text of strangers. */
  readonly message: string;
  /** What is to be filled in; empty: a yes is enough. */
  readonly fields: readonly FormField[];
  /** An address that the person is asked to visit; nothing opens it by itself. */
  readonly url?: string;
  /** The arguments of the call that asks, as JSON. */
  readonly call: string;
}

/** `cancel`: nobody has decided, because the question was put away or withdrawn. */
export type QuestionAnswer =
  | { readonly action: 'accept'; readonly values: Readonly<Record<string, FormValue>> }
  | { readonly action: 'decline'; readonly note: string; readonly by: string }
  | { readonly action: 'cancel' }
  /** Declined because nobody can be asked in this run. */
  | { readonly action: 'nobody' };

/** The question behind an entry of the approval queue; null: it is a call that waits for approval. */
export function questionOf({
  subject_kind,
  input,
}: {
  readonly subject_kind: string | null;
  readonly input: string;
}): Question | null {
  if (subject_kind !== 'question') return null;
  const parsed = parseJson(input);
  if (!parsed.ok || !isJsonObject(parsed.value)) return null;
  const { asker, message, fields, url, call } = parsed.value;
  return {
    asker: String(asker),
    message: String(message),
    // Written by ourselves: the schema was read when it was asked.
    fields: (Array.isArray(fields) ? fields : []) as readonly FormField[],
    ...(typeof url === 'string' && { url }),
    call: String(call ?? ''),
  };
}
