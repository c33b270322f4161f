import { resolve } from 'node:path';
import { z } from 'zod';
import {
  type LoadedScript,
  loaded,
  loadScript,
  type ScriptTrust,
  scriptTrust,
} from '../../models/workflow/saved-scripts.ts';
import { SOURCE_MAX } from '../../models/workflow/script-places.ts';
import { meantPath } from '../../processes/working-folder.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { given } from '../../records/text/json-fields.ts';
import type { WorkflowSteer } from '../../runtime/runtime-face.ts';
import { dataFolder } from '../../settings/folders.ts';
import { usedKey } from '../../trees/answers/people-answers.ts';
import { oneRoot } from '../../trees/find-agent.ts';
import { whatIfDocument } from '../../trees/rewind/what-if/what-if-run.ts';
import { rerunWorkflow } from '../../trees/workflow/rerun-run.ts';
import {
  WORKFLOW_RUNS_USUAL,
  workflowRunDocument,
  workflowRunsDocument,
  workflowScriptDocument,
} from '../../trees/workflow/run-document.ts';
import { saveRun } from '../../trees/workflow/save-run.ts';
import { checkDocument, savedWorkflows } from '../../trees/workflow/saved-workflows.ts';
import { messageRun, retryAgent, skipAgent, steerRun } from '../../trees/workflow/steer-runs.ts';
import { notStarted, workflowRoot, workflowVerdict } from '../../trees/workflow/workflow-root.ts';
import {
  type ApiSources,
  before,
  countUpTo,
  delivered,
  NAME_MAX,
  named,
  route,
  someText,
  startSettings,
  words,
} from './route.ts';

const RUNS_MAX = 500;
const CALLS_MAX = 20_000;
const CHECKS_MAX = 2;
const TEXT_MAX = 1_000_000;

const folder = someText(4_096)
  .overwrite(meantPath)
  .optional()
  .describe('folder on the machine of the server; default: its own');
export const wanted = {
  name: someText(NAME_MAX)
    .regex(/^[^\\/]+$/, 'it is no name')
    .optional()
    .describe('a saved workflow'),
  script: z.string().min(1).max(SOURCE_MAX).optional().describe('instead: the text of a script'),
  args: z.unknown().optional().describe('the value that the script sees as `args`'),
};

/** Routes about workflows (docs/workflows.md). */
export const WORKFLOW_ROUTES = [
  route({
    route: 'GET /v1/workflows',
    summary: 'Saved workflows that a folder can use, by name',
    answer: 'coppice/workflows/v1',
    query: z.strictObject({ cwd: folder }),
    handle: async (sources, { query }) => savedWorkflows(folderOf(sources, query.cwd), trustOf(sources)),
  }),
  route({
    route: 'POST /v1/workflows/check',
    summary: 'Runs a workflow with invented results, without a model: agents, phases, depth',
    answer: 'coppice/workflow-check/v1',
    body: z.strictObject({ ...wanted, cwd: folder }),
    handle: async (sources, { body, signal }) => {
      if (checks >= CHECKS_MAX)
        throw new CoppiceError('E_TOO_MANY_REQUESTS', `${checks} workflows are being checked`, {
          retryable: true,
        });
      checks += 1;
      try {
        // It is only looked at.
        const trust = { ...trustOf(sources), accepts: () => true };
        return await checkDocument(scriptOf(sources, body, body.cwd, trust), argsOf(body), signal);
      } finally {
        checks -= 1;
      }
    },
  }),
  route({
    route: 'GET /v1/workflow-runs',
    summary: 'Workflow runs, newest first',
    answer: 'coppice/workflow-runs/v1',
    watched: true,
    query: z.strictObject({
      before,
      limit: countUpTo(RUNS_MAX, WORKFLOW_RUNS_USUAL).describe('maximum runs'),
    }),
    handle: (sources, { query }) => workflowRunsDocument(sources, query),
  }),
  route({
    route: 'POST /v1/workflow-runs',
    summary: 'Starts a workflow that a rule allows, which a server or worker leads',
    creates: true,
    answer: 'coppice/entered/v1',
    body: z.strictObject({
      ...wanted,
      calls: z.int().min(1).max(CALLS_MAX).optional().describe('maximum calls of `agent()`; default 1000'),
      ...startSettings,
      allow: words
        .optional()
        .describe('rules that allow; `workflow:NAME` the start, unless the configuration does'),
    }),
    handle: async (sources, { body, id }) => {
      const { name: _, script: __, args: ___, calls, limits: said = {}, ...request } = body;
      const script = scriptOf(sources, body, body.cwd);
      const known = await sources.store.agent(id);
      if (known !== null) {
        if (known.config.workflow?.script !== script.source) throw usedKey();
        return { id };
      }
      const { placement, ...root } = await sources.compose({ ...request, limits: given(said) });
      assertAllowed(root.config, script);
      const start = workflowRoot(root, script, { args: argsOf(body), calls });
      await sources.runtime.enter({ id, ...start }, placement);
      sources.onEntered();
      return { id };
    },
  }),
  route({
    route: 'GET /v1/workflow-runs/:run',
    summary: 'One run: its phases and agents, failures first, with what they cost',
    answer: 'coppice/workflow-run/v1',
    watched: true,
    handle: (sources, request) => workflowRunDocument(sources, named(request, 'run')),
  }),
  route({
    route: 'GET /v1/workflow-runs/:run/script',
    summary: 'The script of a run',
    answer: 'coppice/workflow-script/v1',
    handle: ({ store }, request) => workflowScriptDocument(store, named(request, 'run')),
  }),
  route({
    route: 'GET /v1/workflow-runs/:run/what-if',
    summary: 'The results of a what-if side by side, once it has ended',
    answer: 'coppice/what-if/v1',
    handle: async ({ store }, request) =>
      whatIfDocument(store, (await oneRoot(store, named(request, 'run'))).id),
  }),
  steering('pause', 'Lets a run make no further requests; what is under way comes to its end'),
  steering('stop', 'Breaks off what a run has under way; it can go on later'),
  steering('resume', 'Lets a run go on that was paused or stopped, or that no process leads'),
  route({
    route: 'POST /v1/workflow-runs/:run/rerun',
    summary: 'Runs a run that has ended again, with every result that it has; another script must be allowed',
    creates: true,
    answer: 'coppice/entered/v1',
    body: z.strictObject({
      ...{ ...wanted, ...delivered },
      fresh: words.optional().describe('labels and phases of calls that are made anew'),
      limits: startSettings.limits.describe('other limits than those of the run'),
    }),
    handle: async (sources, request) => {
      const { store, runtime, compose, onEntered } = sources;
      const { body, id } = request;
      if ((await store.agent(id)) !== null) return { id };
      const { placement, config: own } = await compose({ deliver: body.deliver });
      const { name, script: text, fresh, limits: said = {} } = body;
      const script = name === undefined && text === undefined ? undefined : scriptOf(sources, body, own.cwd);
      const change = { script, args: argsOf(body), fresh, deliver: own.deliver };
      const { limits: kept, ...start } = await rerunWorkflow(store, named(request, 'run'), change);
      if (script !== undefined) {
        workflowVerdict(own, script);
        assertAllowed(start.config, script);
      }
      await runtime.enter({ id, ...start, limits: { ...kept, ...given(said) } }, placement);
      onEntered();
      return { id };
    },
  }),
  route({
    route: 'POST /v1/workflow-runs/:run/send',
    summary: 'Sends a message to all agents of a run that are at work, or to those of a phase',
    answer: 'coppice/workflow-mail/v1',
    body: z.strictObject({
      text: z.string().regex(/\S/, 'it is empty').max(TEXT_MAX).describe('what they are told'),
      phase: z.string().max(TEXT_MAX).optional().describe('only those of this phase'),
    }),
    handle: (sources, request) => messageRun(sources, named(request, 'run'), request.body),
  }),
  route({
    route: 'POST /v1/workflow-runs/:run/save',
    summary: 'Saves the script of a run as a workflow of the folder of the server',
    answer: 'coppice/workflow-saved/v1',
    body: z.strictObject({
      name: z.string().min(1).max(NAME_MAX).describe('its name'),
      overwrite: z.boolean().default(false).describe('replace another script of that name'),
    }),
    handle: (sources, request) => {
      const { store, cwd: own } = sources;
      const { name, overwrite: overwrites } = request.body;
      const { accept } = trustOf(sources);
      return saveRun(store, named(request, 'run'), { name, folder: own, overwrites, accept });
    },
  }),
  route({
    route: 'POST /v1/agents/:agent/skip',
    summary: 'Ends an agent of a workflow run; its call gives `null`, which is no failure',
    answer: 'coppice/workflow-order/v1',
    handle: (sources, request) => skipAgent(sources, named(request, 'agent')),
  }),
  route({
    route: 'POST /v1/workflow-agents/:agent/retry',
    summary: 'Runs an agent of a workflow run again; its call gets the new result',
    answer: 'coppice/workflow-order/v1',
    handle: (sources, request) => retryAgent(sources, named(request, 'agent')),
  }),
] as const;

function steering<const How extends WorkflowSteer>(how: How, summary: string) {
  return route({
    route: `POST /v1/workflow-runs/:run/${how}` as const,
    summary,
    answer: 'coppice/workflow-order/v1',
    handle: async (sources, request) => {
      const { store, onEntered } = sources;
      const order = await steerRun(sources, named(request, 'run'), how);
      // A server or worker goes on with what nobody leads.
      if (how === 'resume' && !order.led) await store.serveTree(order.root_id);
      onEntered();
      return order;
    },
  });
}

/** Checks in progress: each may take a processor for as long as a script runs. */
let checks = 0;

type Sources = Pick<ApiSources, 'unled' | 'cwd'>;
type Wanted = z.output<z.ZodObject<typeof wanted>>;

function folderOf({ cwd: own }: Sources, cwd: string | undefined): string {
  return resolve(own, cwd ?? '.');
}

function trustOf({ unled }: Sources): ScriptTrust {
  return scriptTrust(unled.env, dataFolder(unled.env));
}

export function scriptOf(
  sources: Sources,
  { name, script }: Wanted,
  cwd: string | undefined,
  trust: ScriptTrust = trustOf(sources),
): Pick<LoadedScript, 'source' | 'meta' | 'hash' | 'within'> & { readonly path: string | null } {
  if ((name === undefined) === (script === undefined))
    throw new CoppiceError('E_INVALID_ARGUMENT', 'body: give one of name and script', {
      hint: 'GET /v1/workflows lists saved workflows',
    });
  const place = folderOf(sources, cwd);
  if (name === undefined) return { ...loaded(script ?? '', place, trust), path: null };
  return loadScript(name, place, trust);
}

function argsOf({ args }: Wanted): string | undefined {
  return args === undefined ? undefined : JSON.stringify(args);
}

/** A rule must allow it: nobody can be asked. What the server's own configuration denies, no request allows. */
export function assertAllowed(
  { permissions }: Parameters<typeof workflowVerdict>[0],
  script: Parameters<typeof workflowVerdict>[1],
): void {
  workflowVerdict({ permissions: { ...permissions, cli: { allow: [], ask: [], deny: [] } } }, script);
  if (workflowVerdict({ permissions }, script) !== 'allow')
    throw notStarted(script.meta.name, 'no rule allows it');
}
