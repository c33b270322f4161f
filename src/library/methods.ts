import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import type { DocumentOf } from '../documents/shapes/all-documents.ts';
import { titleOf } from '../documents/tree-titles.ts';
import type { WorkflowFunction } from '../models/workflow/globals/workflow-function.ts';
import { spillFolder } from '../processes/output/spill-folder.ts';
import { type Agent, isActive } from '../records/agent/agent.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import { OUTCOMES } from '../records/run/outcome.ts';
import { given } from '../records/text/json-fields.ts';
import type { ResumeOptions, ResumeReport, StartOptions } from '../runtime/runtime-face.ts';
import { checkSettings } from '../settings/check-settings.ts';
import { dataFolder, outputFolder } from '../settings/folders.ts';
import { livingWorkers } from '../store/process-gone.ts';
import {
  type AgentsQuery,
  agentsDocument,
  type MessagesQuery,
  messagesDocument,
} from '../trees/answers/agent-answers.ts';
import { type ApprovalFilter, approvalsDocument } from '../trees/answers/people-answers.ts';
import { type TreesQuery, treesDocument } from '../trees/answers/tree-answers.ts';
import { oneAgent } from '../trees/find-agent.ts';
import type { RewindOrder } from '../trees/rewind/rewind-tree.ts';
import type { WhatIfAsked } from '../trees/rewind/what-if/what-if-start.ts';
import { type TimelineDocument, timelineDocument } from '../trees/timeline/timeline-json.ts';
import { TreeTimelines } from '../trees/timeline/tree-timelines.ts';
import { type RootOptions, startRoot } from './agents.ts';
import { type ApprovalAnswer, answerApproval } from './approvals.ts';
import {
  type AgentGround,
  type CoppiceAgent,
  coppiceAgent,
  ID_MAX,
  idOf,
  type LetterOptions,
  sendLetter,
} from './coppice-agent.ts';
import { type AgentOptions, checkAgentOptions, modelSetting, OPTIONS_OF_RUN } from './coppice-options.ts';
import type { OutputSchema } from './output.ts';
import { type Chat, type ChatOptions, type ChatRequest, chatOn } from './streams/chat.ts';
import { type Workflows, workflowsOn } from './workflows.ts';

type Resumed<Output> = CoppiceAgent<Output> & { readonly report: ResumeReport };
interface Typed<Output> {
  /** The form of its result, as it was started with. */
  readonly output?: OutputSchema<Output>;
}

interface Resume<Output> extends Omit<ResumeOptions, 'model'>, Typed<Output> {
  readonly model?: AgentOptions['model'];
}

/** What programs do with an open coppice. `agent`, `tree`: a uuid, the beginning of one, a name, a session key, or the `id` it was started with. */
export interface Methods extends Workflows {
  start<Output = unknown>(options: RootOptions<Output>): Promise<CoppiceAgent<Output>>;
  /** A conversation by the id of a chat, for `useChat` of the AI SDK: sends the agent the newest message of the request, if it has any. */
  chat(request: ChatRequest, options?: ChatOptions): Promise<Chat>;
  /** Takes over and continues all trees with work left that no living process leads. */
  resume(): Promise<Resumed<unknown>[]>;
  /** Takes over a tree that no living process leads, and continues it. */
  resume<Output = unknown>(tree: string, options?: Resume<Output>): Promise<Resumed<Output>>;
  /** The handle of any agent in the ledger; it does not lead it. */
  find<Output = unknown>(agent: string, options?: Typed<Output>): Promise<CoppiceAgent<Output>>;
  /** Sends mail to any agent. */
  send(agent: string, text: string, options?: LetterOptions): Promise<void>;
  trees(query?: TreesQuery): Promise<DocumentOf<'coppice/trees/v1'>>;
  agents(query?: AgentsQuery): Promise<DocumentOf<'coppice/agents/v1'>>;
  messages(agent: string, query?: MessagesQuery): Promise<DocumentOf<'coppice/messages/v1'>>;
  timeline(tree: string): Promise<TimelineDocument>;
  /** Makes a new tree that is as this one was; it rests until `resume`. */
  rewind(tree: string, order: RewindOrder): Promise<DocumentOf<'coppice/rewind/v1'>>;
  /** Continues a tree from the moment `at` in several ways, and resolves to the results side by side. Called again with its `id`, it goes on. */
  whatIf(tree: string, order: WhatIfOptions): Promise<DocumentOf<'coppice/what-if/v1'>>;
  /** What waits for an answer, in all trees of the ledger or in one. */
  approvals(query?: ApprovalFilter): Promise<DocumentOf<'coppice/approvals/v1'>>;
  /** Answers an approval, once, whoever leads its agent. */
  answer(id: string, answer: ApprovalAnswer): Promise<void>;
}

export interface WhatIfOptions extends WhatIfAsked {
  readonly at: string;
  /** A name of your choice for it. */
  readonly id?: string;
}

export interface MethodGround extends AgentGround {
  readonly rootOf: (options: AgentOptions) => StartOptions;
  readonly functions: Map<string, WorkflowFunction>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly database: string;
}

const [text, yes, count] = [z.string().optional(), z.boolean().optional(), z.int().min(1).optional()];
const any = z.unknown().optional();
const texts = z.array(z.string()).optional();
const tree = { tree: text, all: yes, limit: count };
const QUERIES = {
  trees: z.strictObject({
    ...{ limit: count, before: text, conversations: yes, cwd: text, asking: yes },
    outcome: z.enum(OUTCOMES).optional(),
  }),
  agents: z.strictObject({ ...tree, called: text }),
  messages: z.strictObject({ after: z.int().min(0).optional(), tail: count, limit: count }),
  resume: z.strictObject({ output: any, model: modelSetting, limits: any, retry: yes, without_last: yes }),
  rewind: z.strictObject({ to: z.string(), edit: text, model: text, files: yes, dry_run: yes }),
  'what-if': z.strictObject({
    ...{ at: z.string(), models: texts, prompts: texts, profiles: texts, times: count, check: text },
    ...{ schema: any, judge: text, judge_model: text, at_once: count, here: yes, id: text },
    limits: z
      .strictObject({ tokens: z.int().nullable(), cost_usd: z.number().nullable() })
      .partial()
      .optional(),
  }),
  find: z.strictObject({ output: any }),
  approvals: z.strictObject({ ...tree, id: text, after: text }),
};

export function methodsOn(ground: MethodGround): Methods {
  const { runtime, store, env, database } = ground;
  const sources = { store, unled: { env, options: { database } } };
  const hint = 'agents({ all: true }) lists them';
  const found = async (text: string): Promise<Agent> => {
    if (typeof text !== 'string' || text.trim() === '')
      throw new CoppiceError('E_INVALID_ARGUMENT', 'no agent is named', { hint: 'Give an id or a name' });
    return (await store.agent(idOf(text.slice(0, ID_MAX), 'agent'))) ?? oneAgent(store, text, { list: hint });
  };
  const asked = <Query extends object>(name: keyof typeof QUERIES, query: Query = {} as Query): Query => {
    checkSettings<unknown>(QUERIES[name], query, `of ${name}`);
    return query;
  };
  const inTree = async <Query extends { readonly tree?: string | undefined }>(query: Query) =>
    query.tree === undefined ? query : { ...query, tree: (await found(query.tree)).root_id };
  const resumed = async <Output>(id: string, options?: Resume<Output>) => {
    const { output, model, ...how } = asked('resume', options);
    const report = await runtime.resume(id, { ...how, ...(model && { model: ground.nameOf(model) }) });
    return { ...coppiceAgent(ground, id, output), report };
  };
  const resume = async <Output>(tree?: string, how?: Resume<Output>) => {
    if (tree !== undefined) return resumed((await found(tree)).root_id, how);
    const working = (await store.agents({ living: true })).filter(isActive);
    const roots = [...new Set(working.map(({ root_id }) => root_id))];
    const alone = await store.leftAlone(roots, await livingWorkers(store));
    // Servers take over the trees that they serve.
    const own = await Promise.all(
      alone.map(async (id) => ((await store.placement(id)) === null ? [id] : [])),
    );
    return Promise.all(own.flat().map((id) => resumed(id)));
  };
  return {
    start: (options) => startRoot(ground, ground.rootOf, options),
    chat: (...given) => chatOn(ground, ground.rootOf, ...given),
    resume: resume as Methods['resume'],
    find: async (agent, options) =>
      coppiceAgent(ground, (await found(agent)).id, asked('find', options).output),
    send: async (agent, ...letter) => sendLetter(ground, (await found(agent)).id, ...letter),
    trees: async (query) => treesDocument(sources, asked('trees', query)),
    agents: async (query) => agentsDocument(sources, await inTree(asked('agents', query))),
    messages: async (agent, query) =>
      messagesDocument(sources, (await found(agent)).id, asked('messages', query)),
    async rewind(tree, order) {
      const { root_id } = await found(tree);
      const root = (await store.agent(root_id)) as Agent;
      const { rewindTree } = await import('../trees/rewind/rewind-tree.ts');
      const lock_folder = spillFolder(outputFolder(dataFolder(env)));
      return rewindTree(store, root, asked('rewind', order), randomUUID(), lock_folder);
    },
    async whatIf(tree, order) {
      const { at, id: key, ...way } = asked('what-if', order);
      const { root_id } = await found(tree);
      const { model, cwd } = ((await store.agent(root_id)) as Agent).config;
      const { assertModels, whatIfStart } = await import('../trees/rewind/what-if/what-if-start.ts');
      const { whatIfDocument } = await import('../trees/rewind/what-if/what-if-run.ts');
      const id = idOf(key, 'what-if');
      const there = key === undefined ? null : await store.agent(id);
      if (there !== null) await runtime.resume(id);
      else {
        const { start } = await whatIfStart(store, { root_id, at, model, cwd }, way, (one) => {
          const { config, limits = {} } = ground.rootOf({ prompt: ' ', ...given(one) });
          return { config, limits };
        });
        await assertModels(runtime, start.config, way.models);
        await runtime.start({ ...start, id });
      }
      await runtime.settled(id, 'tree');
      return { schema: 'coppice/what-if/v1', ...(await whatIfDocument(store, id)) };
    },
    async timeline(tree) {
      const root = await found(tree);
      return timelineDocument(await new TreeTimelines(store).of(root.root_id), await titleOf(store, root));
    },
    approvals: async (query) => approvalsDocument(sources, await inTree(asked('approvals', query))),
    answer: async (...given) => void (await answerApproval(ground, ...given)),
    ...workflowsOn({
      ...ground,
      rootOf: (agent) => {
        checkAgentOptions(agent, 'workflow', OPTIONS_OF_RUN);
        return ground.rootOf(agent);
      },
    }),
  };
}
