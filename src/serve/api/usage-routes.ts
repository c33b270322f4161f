import { z } from 'zod';
import { isoTime } from '../../documents/iso-time.ts';
import { titlesOf } from '../../documents/tree-titles.ts';
import { estimateOf, estimateText } from '../../records/agent/estimate.ts';
import { DAYS_MAX } from '../../trees/usage/usage-roll-up.ts';
import { countUpTo, route } from './route.ts';

const ROWS = 50;
const ACTIVE_MAX = 500;

export const USAGE_ROUTES = [
  route({
    route: 'GET /v1/usage',
    summary: 'What model requests used: by day, model, profile, tree and agent',
    answer: 'coppice/usage/v1',
    watched: true,
    query: z.strictObject({
      days: countUpTo(DAYS_MAX, 30).describe('days in UTC, of which today is the last'),
    }),
    handle: async ({ store, usage }, { query }) => {
      const { by_model, by_profile, by_tree, by_agent, ...report } = await usage.report(query.days, ROWS);
      const roots = await Promise.all(by_tree.map(([root_id]) => store.agent(root_id)));
      const names = new Map(
        await Promise.all(by_agent.map(async ([id]) => [id, (await store.agent(id))?.name ?? null] as const)),
      );
      const titles = await titlesOf(
        store,
        roots.filter((root) => root !== null),
      );
      return {
        ...report,
        by_model: by_model.map(([model, used]) => ({ model, ...used })),
        by_profile: by_profile.map(([profile, used]) => ({ profile, ...used })),
        by_tree: by_tree.map(([root_id, used]) => ({ root_id, title: titles.get(root_id) ?? null, ...used })),
        by_agent: by_agent.map(([agent_id, used]) => ({
          agent_id,
          name: names.get(agent_id) ?? null,
          ...used,
        })),
      };
    },
  }),
  route({
    route: 'GET /v1/estimates',
    summary: 'Estimated usage of agents of a profile and a model, from past agents',
    answer: 'coppice/estimates/v1',
    query: z.strictObject({
      model: z.string().min(1).max(500).optional().describe('`provider/model`; default that of the profile'),
      profile: z.string().min(1).max(200).optional().describe('the profile'),
    }),
    handle: async ({ store, compose, profiles }, { query }) => {
      const { config } = await compose(query);
      const { model, profile = null } = config;
      const others = [...(await profiles()).values()].filter(({ name }) => name !== profile);
      const kinds = [
        { profile, model },
        ...others.map(({ name, model: own }) => ({ profile: name, model: own ?? model })),
      ];
      const estimates = await Promise.all(
        kinds.map(async (kind) => {
          const estimate = estimateOf(await store.pastAgents(kind));
          return { ...kind, line: estimateText(kind, estimate), estimate };
        }),
      );
      return { estimates };
    },
  }),
  route({
    route: 'GET /v1/activity',
    summary: 'What the most recently active trees used over time',
    answer: 'coppice/activity/v1',
    watched: true,
    query: z.strictObject({ limit: countUpTo(ACTIVE_MAX, 100).describe('maximum trees') }),
    handle: async ({ activity }, { query }) => {
      const { complete, trees } = await activity.newest(query.limit);
      return {
        complete,
        trees: [...trees].map(([root_id, { begins_at, ...bars }]) => ({
          root_id,
          begins_at: isoTime(begins_at),
          ...bars,
        })),
      };
    },
  }),
] as const;
