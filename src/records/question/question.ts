import { parsedObject } from '../text/json-text.ts';
import { type FormField, type FormValue, meantChoice, neededField } from './form-field.ts';

/** A question that a tool asks a person while it runs. */
export interface Question {
  /** Name of the asker, for people: `the MCP server tracker`. */
  readonly asker: string;
  /** Untrusted text. */
  readonly message: string;
  /** Fields to fill in; empty if accepting is enough. */
  readonly fields: readonly FormField[];
  /** URL that the person is asked to visit; never opened automatically. */
  readonly url?: string;
  /** The call that asks, for people: agent and tool, then the arguments as JSON, truncated. */
  readonly call: string;
}

/** `cancel`: nobody decided, because the question was dismissed or withdrawn. */
export type QuestionAnswer =
  | { readonly action: 'accept'; readonly values: Readonly<Record<string, FormValue>> }
  | { readonly action: 'decline'; readonly note: string; readonly by: string }
  | { readonly action: 'cancel' }
  /** Declined because nobody can be asked in this run. */
  | { readonly action: 'nobody' };

/** The question in an entry of the approval queue; null if the entry is a call that waits for approval. */
export function questionOf({
  subject_kind,
  input,
}: {
  readonly subject_kind: string | null;
  readonly input: string;
}): Question | null {
  if (subject_kind !== 'question') return null;
  const parsed = parsedObject(input);
  if (parsed === null) return null;
  const { asker, message, fields, url, call } = parsed;
  return {
    asker: String(asker),
    message: String(message),
    // Not validated again: the runtime wrote these fields when it asked.
    fields: (Array.isArray(fields) ? fields : []) as readonly FormField[],
    ...(typeof url === 'string' && { url }),
    call: String(call ?? ''),
  };
}

/** The value that a key or a word chooses, where choosing is all that there is to answer; null: it chooses nothing. */
export function chosenValue(entry: Parameters<typeof questionOf>[0], said: string): string | null {
  const needed = neededField(questionOf(entry)?.fields ?? []);
  return needed === null ? null : (meantChoice(needed, said)?.value ?? null);
}
