import { z } from 'zod';
import { maybe, text, yes } from './document-parts.ts';

export interface JsonDocument {
  /** Value of the document's `schema`. */
  readonly name: string;
  /** Commands that print the document. */
  readonly by: readonly string[];
  /** Fields in addition to `schema`. */
  readonly shape: z.ZodObject;
  /** Name of a part whose keys the document has, too; they are documented there. */
  readonly like?: string;
  readonly note?: string;
}

export const error = z.strictObject({
  code: text('stable; see below'),
  message: text('what is wrong, for people'),
  hint: maybe('what to do next'),
  retryable: yes('the same command may succeed later without any change'),
});
