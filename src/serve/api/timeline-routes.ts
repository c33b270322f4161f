import { z } from 'zod';
import { titleOf } from '../../documents/tree-titles.ts';
import { oneRoot } from '../../trees/find-agent.ts';
import { timelineDocument } from '../../trees/timeline/timeline-json.ts';
import { countUpTo, flag, named, route } from './route.ts';

const MAIL_MAX = 1_000;

/** Routes for what the agents of a tree did when, and for their letters. */
export const TIMELINE_ROUTES = [
  route({
    route: 'GET /v1/trees/:tree/timeline',
    summary: 'What each agent did when, who waited for whom, and the critical path, as columns of numbers',
    answer: 'coppice/timeline/v1',
    watched: true,
    query: z.strictObject({
      agents: flag.describe('only the agents, at once: what they did, and the path, are left out'),
      after: z
        .string()
        .max(100)
        .optional()
        .describe('`after` of an earlier answer: only lanes of agents that changed since'),
    }),
    handle: async ({ store, timelines }, request) => {
      const root = await oneRoot(store, named(request, 'tree'));
      const title = await titleOf(store, root);
      const { agents, after } = request.query;
      if (agents === true) return timelineDocument(await timelines.agentsOf(root.id), title);
      return timelineDocument(await timelines.of(root.id, request.as_of), title, after);
    },
  }),
  route({
    route: 'GET /v1/trees/:tree/mail',
    summary: 'What the agents of a tree wrote to each other, and what was written to them, oldest first',
    answer: 'coppice/tree-mail/v1',
    watched: true,
    query: z.strictObject({
      after: z.string().max(300).optional().describe('`next` of the previous page'),
      limit: countUpTo(MAIL_MAX, 500).describe('maximum letters'),
    }),
    handle: async ({ store }, request) => {
      const root = await oneRoot(store, named(request, 'tree'));
      const { after, limit } = request.query;
      const found = await store.treeMail(root.id, after, limit + 1);
      const mail = found.slice(0, limit);
      return { root_id: root.id, mail, next: found.length > limit ? (mail.at(-1)?.id ?? null) : null };
    },
  }),
] as const;
