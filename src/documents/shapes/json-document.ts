import { z } from 'zod';
import { maybe, text, yes } from './document-parts.ts';

interface DocumentShape {
  /** Commands that print the document. */
  readonly by?: readonly string[];
  /** Fields in addition to `schema`. */
  readonly shape?: z.ZodObject;
  /** Name of a part whose keys the document has, too; they are documented there. */
  readonly like?: string;
}

/** Documents by the value of their `schema`. */
export type DocumentShapes = Readonly<Record<string, DocumentShape>>;

export const error = z.strictObject({
  code: text('stable; see below'),
  message: text('what is wrong, for people'),
  hint: maybe('what to do next'),
  retryable: yes('the same command may succeed later without any change'),
});
