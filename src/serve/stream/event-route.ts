import { z } from 'zod';
import { CoppiceError } from '../../records/coppice-error.ts';
import { oneAgent, oneRoot } from '../../trees/find-agent.ts';
import { type ApiSources, flag, someText, type Terms, textUpTo } from '../api/route.ts';
import type { EventFeed } from './event-feed.ts';

const query = z.strictObject({
  tree: z.string().min(1).max(200).optional().describe('only of this tree, with its conversations'),
  agent: someText(200)
    .optional()
    .describe('only of this agent, with its conversation and live text; beside `tree`, its live text too'),
  brief: flag.describe(
    '`changed` instead of documents: which trees have changed, at most once a second; beside it `removed` and `workers`',
  ),
  after: textUpTo(100)
    .optional()
    .describe('id of the last event that was read; the header `Last-Event-ID` takes precedence'),
});

/** The one route that answers with a stream. */
export const EVENT_ROUTE = {
  method: 'GET',
  path: '/v1/events',
  summary: 'What happens, as server-sent events, each with one such document',
  scope: 'read',
  answer: 'coppice/event/v1',
  query,
  body: null,
  stream: true,
} as const satisfies Terms & { readonly query: z.ZodObject; readonly body: null };

/** `last_event_id` is the header that a browser sends when it reconnects; it takes precedence over `after`. */
export async function openEvents(
  { store }: Pick<ApiSources, 'store'>,
  feed: EventFeed,
  { tree, agent, brief, after }: z.output<typeof query>,
  last_event_id: string | undefined,
): Promise<ReadableStream<Uint8Array>> {
  if (brief === true && (tree ?? agent) !== undefined)
    throw new CoppiceError('E_INVALID_ARGUMENT', 'brief: cannot be combined with tree or agent', {
      hint: 'Follow everything briefly, or one tree or agent with its documents',
    });
  const root_id = tree === undefined ? null : (await oneRoot(store, tree)).id;
  const one = agent === undefined ? null : await oneAgent(store, agent);
  const watch = {
    root_id,
    agent_id: one?.id ?? null,
    brief: brief === true,
    follows: root_id ?? one?.root_id ?? null,
  };
  return feed.open(watch, last_event_id ?? after ?? null);
}
