import { z } from 'zod';
import { group, number } from './document-parts.ts';

export const attached = group('what a person attached, which follows in the text', {
  typed: number('length of what they wrote, in UTF-16 code units'),
  labels: z.array(z.string()).readonly().describe('what each attachment is'),
});

const status = z.literal('idle');
const partial = z.string().exactOptional();

/** The completion in a letter; it may have more fields. */
export const completion = z
  .discriminatedUnion('success', [
    z.looseObject({ status, success: z.literal(true), summary: z.string() }),
    z.looseObject({ status, success: z.literal(false), error: z.string(), partial }),
  ])
  .describe('the report that the letter is');

export const facts = z
  .unknown()
  .describe('what the text is made of ([facts](ledger.md#facts)); never sent to a model');
