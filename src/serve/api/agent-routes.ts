import { z } from 'zod';
import { agentJson } from '../../documents/agent-json.ts';
import { isUserInitiated } from '../../records/agent/agent.ts';
import { unledOf } from '../leading/unled.ts';
import { agentsJson, oneAgent, oneRoot } from './find-one.ts';
import { countUpTo, flag, named, route } from './route.ts';

const AGENTS_MAX = 1_000;
const MESSAGES_MAX = 1_000;
const PROMPT_MAX = 500;

/** What can be read of agents. */
export const AGENT_ROUTES = [
  route({
    method: 'GET',
    path: '/v1/agents',
    summary: 'Agents of the newest trees, or of one tree, oldest first',
    scope: 'read',
    answer: 'coppice/agents/v1',
    query: z.strictObject({
      tree: z.string().optional().describe('only of this tree'),
      all: flag.describe('also ended agents, and sub-agents of tasks'),
      limit: countUpTo(AGENTS_MAX, 200).describe('newest agents that are looked at, where no tree is named'),
    }),
    handle: async (sources, { query }) => {
      const { store } = sources;
      const root_id = query.tree === undefined ? undefined : (await oneRoot(store, query.tree)).id;
      const all = query.all === true;
      const found = await store.agents({
        ...(root_id === undefined ? { limit: query.limit } : { root_id }),
        ...(all ? {} : { living: true }),
      });
      const shown = found.filter((agent) => all || isUserInitiated(agent) || agent.parent_id === null);
      return { agents: await agentsJson(sources, shown.toReversed()) };
    },
  }),
  route({
    method: 'GET',
    path: '/v1/agents/:agent',
    summary: 'One agent',
    scope: 'read',
    answer: 'coppice/agent/v1',
    handle: async ({ store, unled }, request) => {
      const agent = await oneAgent(store, named(request, 'agent'));
      const [mail, children, requests, asks] = await Promise.all([
        store.mail(agent.id),
        store.agents({ parent_id: agent.id }),
        store.requests(agent.id),
        store.asks({ agent_id: agent.id, open: true }),
      ]);
      return {
        ...agentJson(agent, asks, await unledOf(unled, store, agent.root_id)),
        forked_from: agent.forked_from,
        messages: agent.last_seq,
        requests: requests.length,
        pending_mail: mail,
        children: children.map((child) => child.id),
      };
    },
  }),
  route({
    method: 'GET',
    path: '/v1/agents/:agent/messages',
    summary: 'A page of the conversation, inherited messages included, oldest first',
    scope: 'read',
    answer: 'coppice/messages/v1',
    query: z.strictObject({
      after: z.coerce.number().int().min(0).default(0).describe('messages after this `seq`'),
      tail: z.coerce
        .number()
        .int()
        .min(1)
        .max(MESSAGES_MAX)
        .optional()
        .describe('the newest ones instead, so many'),
      limit: countUpTo(MESSAGES_MAX, 200).describe('maximum messages'),
    }),
    handle: async ({ store }, request) => {
      const agent = await oneAgent(store, named(request, 'agent'));
      const { after, tail, limit } = request.query;
      const from = tail === undefined ? after : Math.max(0, agent.last_seq - tail);
      const messages = await store.history(agent.id, from, tail ?? limit);
      const last = messages.at(-1)?.seq ?? from;
      return { agent_id: agent.id, messages, next: last < agent.last_seq ? last : null };
    },
  }),
  route({
    method: 'GET',
    path: '/v1/agents/:agent/mail',
    summary: 'What was addressed to the agent, oldest first',
    scope: 'read',
    answer: 'coppice/mailbox/v1',
    query: z.strictObject({ all: flag.describe('also what it has read') }),
    handle: async ({ store }, request) => {
      const agent = await oneAgent(store, named(request, 'agent'));
      return { agent_id: agent.id, mail: await store.mail(agent.id, request.query.all === true) };
    },
  }),
  route({
    method: 'GET',
    path: '/v1/agents/:agent/requests',
    summary: 'Its model requests with their usage, oldest first',
    scope: 'read',
    answer: 'coppice/requests/v1',
    handle: async ({ store }, request) => {
      const agent = await oneAgent(store, named(request, 'agent'));
      return { agent_id: agent.id, requests: await store.requests(agent.id) };
    },
  }),
  route({
    method: 'GET',
    path: '/v1/agents/:agent/prompt',
    summary: 'A page of the conversation as its model sees it, with the bytes of each message, oldest first',
    scope: 'read',
    answer: 'coppice/prompt/v1',
    query: z.strictObject({
      after: z.coerce.number().int().min(0).default(0).describe('messages after this `number`'),
      limit: countUpTo(PROMPT_MAX, 200).describe('maximum messages'),
    }),
    handle: async ({ store, prompts }, request) => {
      const agent = await oneAgent(store, named(request, 'agent'));
      const { after, limit } = request.query;
      const { messages, shared, bytes } = await prompts.of(agent);
      const shown = messages.slice(after, after + limit);
      return {
        agent_id: agent.id,
        system: agent.config.system,
        total: messages.length,
        bytes,
        shared,
        shared_bytes: messages[shared]?.from ?? (shared === 0 ? 0 : bytes),
        messages: shown.map((message, index) => ({
          number: after + index + 1,
          shared: after + index < shared,
          ...message,
        })),
        next: after + shown.length < messages.length ? after + shown.length : null,
      };
    },
  }),
] as const;
