import { z } from 'zod';
import { limits } from '../../documents/shapes/agent-parts.ts';
import { titleOf } from '../../documents/tree-titles.ts';
import { spillFolder } from '../../processes/output/spill-folder.ts';
import { isActive } from '../../records/agent/agent.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { OUTCOMES } from '../../records/run/outcome.ts';
import { given } from '../../records/text/json-fields.ts';
import type { ResumeOptions, ResumeReport } from '../../runtime/runtime-face.ts';
import { dataFolder, outputFolder } from '../../settings/folders.ts';
import type { Store } from '../../store/store.ts';
import { agentDocument } from '../../trees/answers/agent-answers.ts';
import { filesDocument } from '../../trees/answers/files-document.ts';
import { mergeBranches } from '../../trees/answers/merge-branches.ts';
import { sentDocument, usedKey } from '../../trees/answers/people-answers.ts';
import {
  resumedDocument,
  TREES_USUAL,
  tasksDocument,
  treeDocument,
  treesDocument,
} from '../../trees/answers/tree-answers.ts';
import { oneAgent, oneRoot } from '../../trees/find-agent.ts';
import { assertMayLeadHere } from '../../trees/leaders/leaders.ts';
import { unledOf } from '../../trees/leaders/unled-reason.ts';
import { rewindTree } from '../../trees/rewind/rewind-tree.ts';
import { assertModels, whatIfStart } from '../../trees/rewind/what-if/what-if-start.ts';
import { timelineDocument } from '../../trees/timeline/timeline-json.ts';
import {
  type ApiSources,
  before,
  countUpTo,
  flag,
  NAME_MAX,
  named,
  route,
  someText,
  startSettings,
  textUpTo,
  words,
} from './route.ts';

const TREES_MAX = 500;
const FILES_MAX = 100;
const MAIL_MAX = 1_000;
const PROMPT_MAX = 1_000_000;
const WAYS_MAX = 100;

const moment = textUpTo(NAME_MAX).describe(
  '`12`, `NAME#12`, `before 12`, `before CALL`, `10 minutes`, or a time',
);

/** Routes that start, read and resume trees; also for what their agents did when, and for their letters. */
export const TREE_ROUTES = [
  route({
    route: 'GET /v1/trees',
    summary: 'Trees with the fields that a list shows, newest first',
    answer: 'coppice/trees/v1',
    watched: true,
    query: z.strictObject({
      limit: countUpTo(TREES_MAX, TREES_USUAL).describe('maximum trees'),
      before,
      conversations: flag.describe('only those that a person began, not runs on a timer'),
      cwd: z.string().max(4_096).optional().describe('only those that work in this folder'),
      cut_of: textUpTo(NAME_MAX).optional().describe('only those that were cut from the tree with this root'),
      asking: flag.describe('also all older ones that wait for an approval'),
      outcome: z.enum(OUTCOMES).optional().describe('only those with this [outcome](guarantees.md#outcomes)'),
    }),
    handle: (sources, { query }) => treesDocument(sources, query),
  }),
  route({
    route: 'POST /v1/trees',
    summary: 'Starts a tree, which a server or worker leads',
    creates: true,
    answer: 'coppice/entered/v1',
    body: z.strictObject({
      prompt: z.string().regex(/\S/, 'it is empty').max(PROMPT_MAX).describe('the task'),
      name: z.string().min(1).max(NAME_MAX).optional().describe('name of the root; default `main`'),
      ...startSettings,
    }),
    handle: async ({ store, runtime, compose, onEntered }, { body, id }) => {
      const { prompt, name, limits: said = {}, ...request } = body;
      if ((await store.agent(id)) !== null) {
        if (!(await beganWith(store, id, prompt))) throw usedKey();
        return { id };
      }
      const { placement, ...root } = await compose({ ...request, limits: given(said) });
      const start = { id, prompt, ...root, ...(name === undefined ? {} : { name }) };
      await runtime.enter(start, placement);
      onEntered();
      return { id };
    },
  }),
  route({
    route: 'GET /v1/trees/:tree',
    summary: 'One tree with all its agents, oldest first',
    answer: 'coppice/tree/v1',
    handle: (sources, request) => treeDocument(sources, named(request, 'tree')),
  }),
  route({
    route: 'GET /v1/trees/:tree/tasks',
    summary: 'The task list that the agents of a tree share',
    answer: 'coppice/tasks/v1',
    handle: (sources, request) => tasksDocument(sources, named(request, 'tree')),
  }),
  route({
    route: 'GET /v1/trees/:tree/files',
    summary:
      'What the agents of a tree changed in files, as diffs, with who wrote which lines and what they were told',
    answer: 'coppice/files/v1',
    watched: true,
    query: z.strictObject({
      after: z.string().max(4_096).optional().describe('`next` of the previous page'),
      limit: countUpTo(FILES_MAX, 20).describe('maximum files'),
    }),
    handle: (sources, request) => filesDocument(sources, named(request, 'tree'), request.query),
  }),
  route({
    route: 'POST /v1/trees/:tree/resume',
    summary: 'Takes over a tree that no process leads, and continues it',
    answer: 'coppice/resumed/v1',
    body: z.strictObject({
      retry: z.boolean().default(false).describe('also restarts agents whose turn failed'),
      without_last: z
        .boolean()
        .default(false)
        .describe(
          'also restarts agents whose conversation the provider refused, without the refused message',
        ),
      model: z.string().min(1).max(500).optional().describe("another model for agents that use the root's"),
      limits: startSettings.limits,
    }),
    handle: async (sources, request) => {
      const root = await oneRoot(sources.store, named(request, 'tree'));
      const { model, limits: said, ...how } = request.body;
      const report = await resumeTree(sources, root.id, {
        ...how,
        ...(model === undefined ? {} : { model }),
        ...(said === undefined ? {} : { limits: given(said) }),
      });
      sources.onEntered();
      return resumedDocument(report);
    },
  }),
  route({
    route: 'POST /v1/trees/:tree/rewind',
    summary: 'Makes a new tree that is as this one was at a moment; it rests until it is resumed',
    creates: true,
    answer: 'coppice/rewind/v1',
    body: z.strictObject({
      to: moment,
      edit: textUpTo(PROMPT_MAX)
        .optional()
        .describe('text that takes the place of the message, or of the result of the call, that `to` names'),
      model: someText(500)
        .optional()
        .describe("another model for the agent that `to` names, else for those with the root's"),
      files: z
        .boolean()
        .optional()
        .describe('files that `write` and `patch` changed since get the content that they had'),
      dry_run: z.boolean().optional().describe('only says what would be done'),
    }),
    handle: async ({ store, runtime, unled }, request) => {
      const { body, id } = request;
      const root = await oneRoot(store, named(request, 'tree'));
      if (body.model !== undefined) await assertModels(runtime, root.config, [body.model]);
      return rewindTree(store, root, body, id, spillFolder(outputFolder(dataFolder(unled.env))));
    },
  }),
  route({
    route: 'POST /v1/trees/:tree/what-if',
    summary: 'Continues a tree from a moment in several ways, and compares them, as a workflow run',
    creates: true,
    answer: 'coppice/entered/v1',
    body: z.strictObject({
      at: moment,
      models: words.optional().describe('models to go on with'),
      prompts: z
        .array(z.string().regex(/\S/, 'it is empty').max(PROMPT_MAX))
        .max(WAYS_MAX)
        .optional()
        .describe('texts in place of the message at the moment if a person wrote it, else after it'),
      profiles: words.optional().describe('profiles of the root'),
      times: z.int().min(1).max(WAYS_MAX).optional().describe('how often each of them is made; default 1'),
      check: z
        .boolean()
        .optional()
        .describe(
          "whether the test of the server's configuration (`merge.test`) must succeed in each folder",
        ),
      schema: z
        .record(z.string(), z.unknown())
        .optional()
        .describe('JSON Schema that each answer must match'),
      judge: z
        .string()
        .min(1)
        .max(PROMPT_MAX)
        .optional()
        .describe('what an agent is asked that names the best'),
      judge_model: startSettings.model.describe('its model; default that of the tree'),
      limits: limits.pick({ tokens: true, cost_usd: true }).partial().optional().describe('of all together'),
      at_once: z.int().min(1).max(WAYS_MAX).optional().describe('how many go on at a time; default 4'),
      here: z.boolean().optional().describe('whether all work in the folder of the tree, without worktrees'),
    }),
    handle: async ({ store, runtime, compose, merge_test, unled, onEntered }, request) => {
      const { body, id } = request;
      if ((await store.agent(id)) !== null) return { id };
      const root = await oneRoot(store, named(request, 'tree'));
      await assertMayLeadHere(store, root.id, unled.env);
      const { at, check = false, ...asked } = body;
      const { model, cwd } = root.config;
      const { command } = merge_test;
      if (check && command === null)
        throw new CoppiceError('E_REFUSED', 'the configuration of the server has no test (merge.test)');
      await assertModels(runtime, root.config, [...(asked.models ?? []), asked.judge_model ?? model]);
      const order = { ...asked, check: check ? (command ?? undefined) : undefined };
      const { start } = await whatIfStart(store, { root_id: root.id, at, model, cwd }, order, compose);
      const { placement, ...begun } = start;
      await runtime.enter({ ...begun, id }, placement);
      onEntered();
      return { id };
    },
  }),
  route({
    route: 'GET /v1/trees/:tree/timeline',
    summary: 'What each agent did when, who waited for whom, and the critical path, as columns of numbers',
    answer: 'coppice/timeline/v1',
    watched: true,
    query: z.strictObject({
      agents: flag.describe('only the agents, at once: what they did, and the path, are left out'),
      after: textUpTo(100)
        .optional()
        .describe('`after` of an earlier answer: only lanes of agents that changed since'),
    }),
    handle: async ({ store, timelines, unled }, request) => {
      const root = await oneRoot(store, named(request, 'tree'));
      const title = await titleOf(store, root);
      const { agents, after } = request.query;
      const why = (await unledOf(unled, store, root.id))?.why;
      if (agents === true) return timelineDocument(await timelines.agentsOf(root.id), title, { unled: why });
      const timeline = await timelines.of(root.id, request.as_of);
      return timelineDocument(timeline, title, { after, unled: why });
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
  route({
    route: 'POST /v1/trees/:tree/merge',
    summary:
      "Merges branches of agents into the folder of their tree, with the test of the server's configuration after each",
    answer: 'coppice/merge/v1',
    body: z.strictObject({
      agents: words.min(1).describe('whose branches, in this order: ids or names'),
      dry_run: z.boolean().optional().describe('only says into which branch, or why not now'),
    }),
    handle: async (sources, request) => {
      const { store, unled, merge_test } = sources;
      const { id: root_id } = await oneRoot(store, named(request, 'tree'));
      await assertMayLeadHere(store, root_id, unled.env);
      const { agents, dry_run } = request.body;
      const found = await Promise.all(agents.map((name) => oneAgent(store, name, { root_id })));
      const agent = (id: string) => agentDocument(sources, id);
      return mergeBranches(
        await Promise.all(found.map(({ id }) => agent(id))),
        { agent, send: (id, letter) => sentDocument(sources, id, letter) },
        { ...merge_test, dry_run, signal: request.signal },
      );
    },
  }),
] as const;

async function beganWith(store: Store, root_id: string, prompt: string): Promise<boolean> {
  const [first] = await store.history(root_id, 0, 1);
  return first?.kind === 'user' && first.content.text === prompt;
}

/** Maximum wait for a restarted agent to be working. */
const SOON_MS = 2_000;

/**
 * Takes over a tree and makes it a served one. If failed agents are restarted, resolves once one of them is working, so that callers do not still see
 * them as failed.
 */
async function resumeTree(
  { store, runtime, unled }: Pick<ApiSources, 'store' | 'runtime' | 'unled'>,
  root_id: string,
  how: ResumeOptions,
): Promise<ResumeReport> {
  await assertMayLeadHere(store, root_id, unled.env);
  await store.serveTree(root_id);
  // A tree at rest in this process is first released, then taken over like one that nobody leads.
  await runtime.release(root_id);
  const restarted = Promise.withResolvers<void>();
  const unsubscribe = runtime.subscribe((event) => {
    if (event.type === 'agent' && event.agent.root_id === root_id && isActive(event.agent))
      restarted.resolve();
  });
  const late = setTimeout(restarted.resolve, SOON_MS);
  try {
    const report = await runtime.resume(root_id, how);
    if (report.restarted > 0) await restarted.promise;
    return report;
  } finally {
    clearTimeout(late);
    unsubscribe();
  }
}
