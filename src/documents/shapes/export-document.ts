import { z } from 'zod';
import { text, time } from './document-parts.ts';

/** A tree as one document. */
export const exportedTree = z.strictObject({
  root_id: text('the root'),
  title: text('the first line of its task'),
  exported_at: time('when it was written'),
  documents: z
    .record(z.string(), z.record(z.string(), z.unknown()))
    .describe('what `GET` answers, by path; of messages, those that the agent did not inherit, as one page'),
});

export type ExportedTree = z.infer<typeof exportedTree>;
