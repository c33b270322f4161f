import { z } from 'zod';
import { isoTime } from '../../documents/iso-time.ts';
import { titleOf } from '../../documents/tree-titles.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { placeText } from '../../records/text/list-place.ts';
import { phrasePattern, searchPhrases } from '../../records/text/search-words.ts';
import { cleanLines } from '../../render/clean.ts';
import { before, countUpTo, route } from './route.ts';

const HITS_MAX = 200;
/** How long one request indexes at most what was written since the last one. */
const INDEX_MS = 1_000;
/** Letters around what was found. */
const AROUND = 100;

/** The search in all conversations. */
export const SEARCH_ROUTES = [
  route({
    route: 'GET /v1/search',
    summary: 'Messages of all trees that contain these words, newest first',
    answer: 'coppice/search/v1',
    query: z.strictObject({
      q: z
        .string()
        .max(500)
        .refine((text) => searchPhrases(text).length > 0, 'has no word')
        .describe('words, or phrases in double quotes; all of them must be there'),
      before: before.describe('`next` of the previous page'),
      limit: countUpTo(HITS_MAX, 50).describe('maximum messages'),
    }),
    handle: async ({ store, searches }, { query }) => {
      if (!searches)
        throw new CoppiceError('E_CONFIG', 'searching conversations is switched off on this server', {
          hint: '"server": { "search": true } in its configuration switches it on',
        });
      const phrases = searchPhrases(query.q);
      const complete = await store.indexMessages(INDEX_MS);
      const found = await store.search(phrases, query.before, query.limit + 1);
      const hits = found.slice(0, query.limit);
      const roots = [...new Set(hits.map(({ root_id }) => root_id))];
      const titleIn = async (id: string) => [id, await titleOf(store, { id, name: id.slice(0, 8) })] as const;
      const titles = new Map(await Promise.all(roots.map(titleIn)));
      const last = found.length > hits.length ? hits.at(-1)?.message : undefined;
      return {
        complete,
        hits: hits.map(({ root_id, agent_name, message, text }) => ({
          root_id,
          title: titles.get(root_id) ?? '',
          agent_id: message.agent_id,
          agent: agent_name,
          seq: message.seq,
          kind: message.kind,
          at: isoTime(message.at),
          text: excerpt(text, phrasePattern(phrases)),
        })),
        next:
          last === undefined ? null : placeText({ created_at: last.at, id: `${last.agent_id}:${last.seq}` }),
      };
    },
  }),
] as const;

/** What stands around the first place that was found, in one line. */
function excerpt(text: string, pattern: RegExp | null): string {
  const at = pattern?.exec(text)?.index ?? 0;
  const from = Math.max(0, at - AROUND / 2);
  const line = cleanLines(text.slice(from, at + AROUND * 2))
    .replaceAll(/\s+/g, ' ')
    .trim();
  return `${from > 0 ? '…' : ''}${from > 0 ? line.replace(/^\P{L}+/u, '') : line}${at + AROUND * 2 < text.length ? '…' : ''}`;
}
