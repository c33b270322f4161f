import { z } from 'zod';
import { agentJson } from '../../documents/agent-json.ts';
import { budgetDocument } from '../../documents/budget-json.ts';
import { attached } from '../../documents/shapes/document-parts.ts';
import type { Agent } from '../../records/agent/agent.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { isLed, killedDocument, livingAgent, sentDocument } from '../../trees/answers/people-answers.ts';
import { waitDocument } from '../../trees/answers/wait-document.ts';
import { oneAgent } from '../../trees/find-agent.ts';
import { type ApiSources, NAME_MAX, named, route, someText } from './route.ts';

const TEXT_MAX = 1_000_000;
const AGENTS_MAX = 5_000;
/** Longest wait in seconds; proxies cut off requests that take longer. */
const WAIT_MAX_S = 300;

const text = (meaning: string) => z.string().regex(/\S/, 'it is empty').max(TEXT_MAX).describe(meaning);

const CAPTURED = z.union([
  z.strictObject({ text: text('the text') }),
  z.strictObject({ mark: z.enum(['begun', 'ended']).describe('begins or ends the capture') }),
]);

/** Routes that give orders to agents, whichever process leads them. */
export const ORDER_ROUTES = [
  route({
    route: 'POST /v1/agents/:agent/send',
    summary: 'Writes to the agent; it wakes an idle one',
    creates: true,
    answer: 'coppice/mail/v1',
    body: z.strictObject({
      text: text('what it is told'),
      attached: attached.exactOptional(),
    }),
    handle: (sources, request) => sentDocument(sources, named(request, 'agent'), request.body, request.id),
  }),
  route({
    route: 'POST /v1/agents/:agent/fork',
    summary: 'Forks a child that inherits the conversation',
    creates: true,
    answer: 'coppice/child/v1',
    body: z.strictObject({
      name: z.string().min(1).max(NAME_MAX).describe('name of the child'),
      prompt: text('its task; without one it is idle').nullable().default(null),
    }),
    handle: async ({ store, runtime }, request) => {
      const { name, prompt } = request.body;
      const agent = await livingAgent(store, named(request, 'agent'));
      return agentJson(await runtime.fork(agent.id, name, prompt, false, request.id));
    },
  }),
  route({
    route: 'POST /v1/agents/:agent/kill',
    summary: 'Ends the agent and all its descendants',
    answer: 'coppice/kill/v1',
    handle: (sources, request) => killedDocument(sources, named(request, 'agent')),
  }),
  route({
    route: 'POST /v1/agents/:agent/interrupt',
    summary: 'Stops the turn of this one agent; its children go on',
    answer: 'coppice/ordered/v1',
    body: z.strictObject({
      reason: text('shown in the conversation').max(NAME_MAX).default('interrupted by you'),
    }),
    handle: (sources, request) =>
      order(sources, request, ({ id }) => sources.runtime.interrupt(id, request.body.reason)),
  }),
  route({
    route: 'POST /v1/agents/:agent/retry',
    summary: 'Repeats the model request of an agent whose turn failed',
    answer: 'coppice/ordered/v1',
    body: z.strictObject({
      without_last: z.boolean().default(false).describe('leave out the message that the provider refused'),
    }),
    handle: (sources, request) =>
      order(sources, request, ({ id }) => sources.runtime.retry(id, request.body.without_last)),
  }),
  route({
    route: 'POST /v1/agents/:agent/compact',
    summary:
      'Summarises the older part of the conversation before the next request; at once if the agent rests',
    answer: 'coppice/ordered/v1',
    body: z.strictObject({
      keep: z.string().max(TEXT_MAX).default('').describe('what the summary must keep'),
    }),
    handle: (sources, request) =>
      order(sources, request, ({ id }) => sources.runtime.compact(id, request.body.keep)),
  }),
  route({
    route: 'GET /v1/agents/:agent/budget',
    summary: 'What the agent may still spend',
    answer: 'coppice/budget/v1',
    handle: async ({ store }, request) =>
      budgetDocument(store, await oneAgent(store, named(request, 'agent'))),
  }),
  route({
    route: 'POST /v1/agents/:agent/budget',
    summary: 'Raises or lowers the budget of the agent; of a root, also the limits of its tree',
    answer: 'coppice/budget/v1',
    body: z.strictObject({
      usd: z.number().min(0).nullable().optional().describe('US dollars; null: no limit'),
      tokens: z.int().min(0).nullable().optional().describe('tokens; null: no limit'),
    }),
    handle: async ({ store }, request) => {
      const agent = await livingAgent(store, named(request, 'agent'));
      const changed = await store.changeBudget(agent.id, request.body);
      if (!changed.ok)
        throw new CoppiceError('E_REFUSED', `the budget of ${agent.name} is unchanged: ${changed.error}`, {
          hint: `To see which budgets limit it: coppice budget ${agent.id.slice(0, 8)}, or GET /v1/agents/${agent.id}/budget`,
        });
      return budgetDocument(store, agent);
    },
  }),
  route({
    route: 'POST /v1/agents/:agent/capture',
    summary: 'Adds text that is shown with the conversation and never sent to its model',
    answer: 'coppice/ordered/v1',
    body: CAPTURED as typeof CAPTURED & z.ZodObject,
    handle: (sources, request) => {
      const { text = '', mark } = request.body as { text?: string; mark?: 'begun' | 'ended' };
      return order(sources, request, ({ id }) => sources.runtime.capture(id, text, mark));
    },
  }),
  route({
    route: 'POST /v1/wait',
    summary: 'Answers when none of these agents, or of a tree, is at work any more, or when the time is over',
    scope: 'read',
    answer: 'coppice/wait/v1',
    body: z
      .strictObject({
        agents: z.array(someText(NAME_MAX)).min(1).max(AGENTS_MAX).optional().describe('whom to wait for'),
        tree: someText(NAME_MAX)
          .optional()
          .describe('a tree: all of its agents, those that are created meanwhile too'),
        timeout_seconds: z.number().min(0).max(WAIT_MAX_S).default(30).describe('longest time'),
      })
      .refine(({ agents, tree }) => agents !== undefined || tree !== undefined, 'agents or a tree is needed'),
    handle: (sources, { body, signal }) => waitDocument(sources, body, signal),
  }),
] as const;

async function order(
  sources: ApiSources,
  request: { readonly path: Readonly<Record<string, string>> },
  give: (agent: Agent) => Promise<unknown>,
): Promise<object> {
  const agent = await livingAgent(sources.store, named(request as never, 'agent'));
  await give(agent);
  return { to: agent.id, running: await isLed(sources.store, agent) };
}
