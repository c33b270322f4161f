import { z } from 'zod';
import { titlesOf } from '../../documents/tree-titles.ts';
import { DAYS_MAX } from '../usage/usage-roll-up.ts';
import { countUpTo, route } from './route.ts';

const ROWS = 50;

export const USAGE_ROUTES = [
  route({
    method: 'GET',
    path: '/v1/usage',
    summary: 'What model requests used: by day, model, profile and tree',
    scope: 'read',
    answer: 'coppice/usage/v1',
    query: z.strictObject({
      days: countUpTo(DAYS_MAX, 30).describe('days in UTC, of which today is the last'),
    }),
    handle: async ({ store, usage }, { query }) => {
      const { by_model, by_profile, by_tree, ...report } = await usage.report(query.days, ROWS);
      const roots = await Promise.all(by_tree.map(([root_id]) => store.agent(root_id)));
      const titles = await titlesOf(
        store,
        roots.filter((root) => root !== null),
      );
      return {
        ...report,
        by_model: by_model.map(([model, used]) => ({ model, ...used })),
        by_profile: by_profile.map(([profile, used]) => ({ profile, ...used })),
        by_tree: by_tree.map(([root_id, used]) => ({ root_id, title: titles.get(root_id) ?? null, ...used })),
      };
    },
  }),
] as const;
