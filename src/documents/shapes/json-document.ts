import { z } from 'zod';
import { maybe, text, yes } from './document-parts.ts';

export interface JsonDocument {
  /** As it stands in `schema`. */
  readonly name: string;
  /** The commands that print it. */
  readonly by: readonly string[];
  /** What it has beside `schema`. */
  readonly shape: z.ZodObject;
  /** Part whose keys it has too; they are told of there. */
  readonly like?: string;
  readonly note?: string;
}

export const error = z.strictObject({
  code: text('stable; see below'),
  message: text('what is wrong, for people'),
  hint: maybe('what to do next'),
  retryable: yes('the same command may succeed later without any change'),
});
