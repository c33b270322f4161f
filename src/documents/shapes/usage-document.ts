import { z } from 'zod';
import { request } from './agent-parts.ts';
import { maybe, number, text, yes } from './document-parts.ts';

const used = request.shape.usage.extend({ requests: number('model requests') });

/** What model requests of the whole ledger used in some days. */
export const usage = z.strictObject({
  complete: yes('false while the server still reads history: ask again'),
  total: used.describe('of all these days'),
  by_day: z.array(used.extend({ day: text('`2026-01-31`, in UTC') })).describe('every day, oldest first'),
  by_model: z
    .array(used.extend({ model: text('`provider/model`') }))
    .describe('the 50 most expensive first; the same for profiles and trees'),
  by_profile: z.array(used.extend({ profile: maybe('null: agents without one') })).describe('by profile'),
  by_tree: z
    .array(
      used.extend({
        root_id: text('the tree'),
        title: maybe('the first line of its task; null: it was removed'),
      }),
    )
    .describe('by tree'),
});
