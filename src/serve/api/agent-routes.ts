import { z } from 'zod';
import { systemText } from '../../records/agent/agent.ts';
import {
  AGENTS_USUAL,
  agentDocument,
  agentsDocument,
  MESSAGES_USUAL,
  messagesDocument,
} from '../../trees/answers/agent-answers.ts';
import { oneAgent } from '../../trees/find-agent.ts';
import { diffDocument } from '../../trees/looking-back/diff.ts';
import { whyDocument } from '../../trees/looking-back/why.ts';
import { countUpTo, flag, NAME_MAX, named, route, someText, textUpTo } from './route.ts';

const AGENTS_MAX = 1_000;
const MESSAGES_MAX = 1_000;
const REQUESTS_MAX = 1_000;
const PROMPT_MAX = 500;

const tailUpTo = (max: number) => z.coerce.number().int().min(1).max(max).optional();

export const AGENT_ROUTES = [
  route({
    route: 'GET /v1/agents',
    summary: 'Agents of the newest trees, or of one tree, oldest first',
    answer: 'coppice/agents/v1',
    query: z.strictObject({
      tree: z.string().optional().describe('only of this tree'),
      all: flag.describe('also ended agents, and sub-agents of tasks'),
      called: textUpTo(NAME_MAX)
        .optional()
        .describe(
          'only agents that this uuid, unique prefix, name or session key identifies, living ones first',
        ),
      limit: countUpTo(AGENTS_MAX, AGENTS_USUAL).describe(
        'how many of the newest agents are searched if no tree is given',
      ),
    }),
    handle: (sources, { query }) => agentsDocument(sources, query),
  }),
  route({
    route: 'GET /v1/agents/:agent',
    summary: 'One agent',
    answer: 'coppice/agent/v1',
    handle: (sources, request) => agentDocument(sources, named(request, 'agent')),
  }),
  route({
    route: 'GET /v1/agents/:agent/messages',
    summary: 'A page of the conversation, inherited messages included, oldest first',
    answer: 'coppice/messages/v1',
    query: z.strictObject({
      after: z.coerce.number().int().min(0).default(0).describe('messages after this `seq`'),
      tail: tailUpTo(MESSAGES_MAX).describe('return this many of the newest messages instead'),
      limit: countUpTo(MESSAGES_MAX, MESSAGES_USUAL).describe('maximum messages'),
    }),
    handle: (sources, request) => messagesDocument(sources, named(request, 'agent'), request.query),
  }),
  route({
    route: 'GET /v1/agents/:agent/why',
    summary: 'What led to an answer or call, back to the prompts of people',
    answer: 'coppice/why/v1',
    query: z.strictObject({
      message: z.coerce.number().int().min(1).optional().describe('`seq`; default: its newest answer'),
      call: someText(NAME_MAX).optional().describe('instead: a call of its tree, by id or prefix'),
      all: flag.describe('everything, not only some 20 steps'),
    }),
    handle: ({ store }, request) => whyDocument(store, named(request, 'agent'), request.query),
  }),
  route({
    route: 'GET /v1/agents/:agent/diff',
    summary:
      'The agent with all below it, compared with another one: the first difference, then agent by agent',
    answer: 'coppice/diff/v1',
    query: z.strictObject({ with: z.string().min(1).max(NAME_MAX).describe('the other agent') }),
    handle: ({ store }, request) => diffDocument(store, named(request, 'agent'), request.query.with),
  }),
  route({
    route: 'GET /v1/agents/:agent/mail',
    summary: 'What was addressed to the agent, oldest first',
    answer: 'coppice/mailbox/v1',
    query: z.strictObject({ all: flag.describe('also what it has read') }),
    handle: async ({ store }, request) => {
      const agent = await oneAgent(store, named(request, 'agent'));
      return { agent_id: agent.id, mail: await store.mail(agent.id, request.query.all === true) };
    },
  }),
  route({
    route: 'GET /v1/agents/:agent/requests',
    summary: 'A page of its model requests with their usage, oldest first',
    answer: 'coppice/requests/v1',
    query: z.strictObject({
      after: z.coerce.number().int().min(0).default(0).describe('`next` of the previous page'),
      tail: tailUpTo(REQUESTS_MAX).describe('return this many of the newest requests instead'),
      limit: countUpTo(REQUESTS_MAX, 200).describe('maximum requests'),
    }),
    handle: async ({ store }, request) => {
      const agent = await oneAgent(store, named(request, 'agent'));
      const { after, tail, limit } = request.query;
      const found =
        tail === undefined
          ? await store.requests(agent.id, after, limit + 1)
          : await store.newestRequests(agent.id, tail);
      const page = found.slice(0, tail ?? limit);
      return {
        agent_id: agent.id,
        requests: page.map(({ place: _, agent_id: __, root_id: ___, ...record }) => record),
        next: found.length > page.length ? (page.at(-1)?.place ?? null) : null,
      };
    },
  }),
  route({
    route: 'GET /v1/agents/:agent/prompt',
    summary: 'A page of the conversation as its model sees it, with the bytes of each message, oldest first',
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
        system: systemText(agent.config),
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
