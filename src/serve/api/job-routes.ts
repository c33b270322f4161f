import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { jobRuns } from '../../cron/job-runs.ts';
import type { JobInput } from '../../cron/manage-jobs.ts';
import { nextInstant } from '../../cron/schedule/next-instant.ts';
import { isoTime } from '../../documents/iso-time.ts';
import { runJson } from '../../documents/run-json.ts';
import type { JobDocument, JobRunDocument } from '../../documents/shapes/document-parts.ts';
import { workflowText } from '../../kernel/toolsets/workflow/workflow-agent.ts';
import type { AgentConfig } from '../../records/agent/agent.ts';
import { DEFAULT_LIMITS, newTreeLimits } from '../../records/agent/limits.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import type { CronFire, CronJob } from '../../records/run/cron-job.ts';
import type { Run } from '../../records/run/run.ts';
import { cutText } from '../../records/text/cut-text.ts';
import type { WorkflowTerms } from '../../records/workflow/workflow-terms.ts';
import type { Store } from '../../store/store.ts';
import { oneRoot } from '../../trees/find-agent.ts';
import type { Root } from '../../trees/open-tree.ts';
import { workflowRoot } from '../../trees/workflow/workflow-root.ts';
import {
  type ApiSources,
  countUpTo,
  delivered,
  NAME_MAX,
  named,
  type RootRequest,
  rootSettings,
  route,
} from './route.ts';
import { assertAllowed, scriptOf, wanted } from './workflow-routes.ts';

const TASK_MAX = 100_000;
const RUNS_MAX = 1_000;
const NEXT_MAX = 50;
/** Maximum of what a workflow's job says of itself in place of a task. */
const WORKFLOW_TEXT_MAX = 2_000;

const schedule = {
  cron: z.string().max(NAME_MAX).optional().describe('cron expression of five fields, or six with seconds'),
  tz: z.string().max(NAME_MAX).optional().describe('IANA time zone of the expression'),
  every: z.string().max(NAME_MAX).optional().describe('interval: `10m`, `1h30m`'),
  at: z.string().max(NAME_MAX).optional().describe('once: an ISO time, or `+5m`'),
  task: z.string().max(TASK_MAX).optional().describe('what is done each time'),
  workflow: z
    .strictObject({
      ...wanted,
      calls: z.int().min(0).optional().describe('maximum calls of `agent()`; default 1000'),
    })
    .optional()
    .describe(
      'instead of a task: a workflow, as its script is now, which a rule must allow; without name and script the one that the job has',
    ),
  timeout_seconds: z.number().min(0).optional().describe('longest run; 0: the limit of the tree'),
  ...delivered,
  once: z.boolean().optional().describe('disabled after it fired once'),
  cleanup: z.enum(['delete', 'keep', 'disable']).optional().describe('what happens to a conversation'),
  overlap: z
    .enum(['skip', 'queue'])
    .optional()
    .describe('what happens if it is due while a run of it is in progress'),
};

const session = z
  .enum(['isolated', 'main'])
  .optional()
  .describe('a fresh conversation each time, or an event');

export const JOB_ROUTES = [
  route({
    route: 'GET /v1/jobs',
    summary: 'Scheduled jobs, by name',
    answer: 'coppice/cron-jobs/v1',
    handle: async ({ store }) => ({ jobs: (await store.jobs()).map(jobJson) }),
  }),
  route({
    route: 'POST /v1/jobs',
    summary: 'Schedules a task',
    creates: true,
    answer: 'coppice/cron-job/v1',
    body: z.strictObject({
      name: z.string().min(1).max(NAME_MAX).describe('unique in the ledger'),
      ...schedule,
      session,
      tree: z.string().max(NAME_MAX).optional().describe('whose main session gets the event'),
      ...rootSettings,
    }),
    handle: async (sources, { body, id }) => {
      const { store, jobs, runtime, compose } = sources;
      const { name, tree, ...rest } = body;
      const { input: said, wish, workflow } = partsOf(rest);
      await jobs.check(name, workflow === undefined ? said : { ...said, task: 'its workflow' });
      const composed = await compose(wish);
      const terms = workflow && workflowOf(sources, workflow, composed, said);
      const input = withTask(said, terms);
      const config = {
        ...(await runtime.checked(composed.config, composed.limits)),
        ...(terms && { workflow: terms }),
      };
      const job = await jobs.add(name, input, {
        id,
        root_id: input.session === 'main' && tree !== undefined ? (await oneRoot(store, tree)).id : null,
        created_by: 'you',
        config,
        placement: [],
        limits: newTreeLimits({ ...DEFAULT_LIMITS, ...composed.limits }, composed.limits),
      });
      return jobJson(job);
    },
  }),
  route({
    route: 'GET /v1/jobs/:job',
    summary: 'One job',
    answer: 'coppice/cron-job/v1',
    handle: async ({ jobs }, request) => jobJson(await jobs.find(named(request, 'job'))),
  }),
  route({
    route: 'PATCH /v1/jobs/:job',
    summary: 'Changes a job; omitted fields stay as they are',
    answer: 'coppice/cron-job/v1',
    body: z.strictObject({
      name: z.string().min(1).max(NAME_MAX).optional().describe('a new name'),
      ...schedule,
      session,
      ...rootSettings,
      enabled: z.boolean().optional().describe('whether it fires'),
    }),
    handle: async (sources, request) => {
      const { jobs } = sources;
      const { enabled, name, ...rest } = request.body;
      const found = await jobs.find(named(request, 'job'));
      const { input: settings, wish, workflow } = partsOf(rest);
      const said = Object.values({ ...settings, ...wish, name, workflow }).some(
        (value) => value !== undefined,
      );
      if (!said) return jobJson(enabled === undefined ? found : await jobs.enable(found, enabled));
      const { workflow: before, ...config } = await changedConfig(sources, found, wish);
      const terms =
        workflow && workflowOf(sources, workflow, { config, limits: found.limits }, settings, before);
      const kept = terms ?? (settings.task === undefined ? before : undefined);
      const input = { ...withTask(settings, terms), name };
      const changed = await jobs.change(found, input, { ...config, ...(kept && { workflow: kept }) });
      return jobJson(enabled === undefined ? changed : await jobs.enable(changed, enabled));
    },
  }),
  route({
    route: 'DELETE /v1/jobs/:job',
    summary: 'Removes a job; its runs stay',
    answer: 'coppice/cron-job/v1',
    handle: async ({ jobs }, request) => {
      const job = await jobs.find(named(request, 'job'));
      await jobs.remove(job);
      return { ...jobJson(job), removed: true };
    },
  }),
  route({
    route: 'POST /v1/jobs/:job/run',
    summary: 'Fires a job once more, now',
    answer: 'coppice/cron-fired/v1',
    handle: async ({ jobs, onEntered }, request) => {
      const job = await jobs.find(named(request, 'job'));
      const fired = await jobs.fire(job);
      onEntered();
      return { job: job.id, ...fired };
    },
  }),
  route({
    route: 'GET /v1/jobs/:job/next',
    summary: 'When a job is due next',
    answer: 'coppice/cron-next/v1',
    query: z.strictObject({ count: countUpTo(NEXT_MAX, 5).describe('maximum instants') }),
    handle: async ({ jobs }, request) => {
      const { id, enabled, once, schedule, next_at } = await jobs.find(named(request, 'job'));
      const instants: string[] = [];
      const most = once ? 1 : request.query.count;
      let at = enabled ? next_at : null;
      while (at !== null && instants.length < most) {
        instants.push(isoTime(at));
        at = nextInstant(schedule, at);
      }
      return { job: id, instants };
    },
  }),
  route({
    route: 'GET /v1/jobs/:job/runs',
    summary: 'Instants of a job, newest first',
    answer: 'coppice/cron-runs/v1',
    query: z.strictObject({ limit: countUpTo(RUNS_MAX, 100).describe('maximum instants') }),
    handle: async ({ store, jobs }, request) => {
      const job = await jobs.find(named(request, 'job'));
      const runs = await jobRuns(store, job.id, request.query.limit);
      return { job: job.id, runs: await Promise.all(runs.map((one) => jobRunJson(store, one))) };
    },
  }),
] as const;

/** A profile or toolset brings its own tools, prompt and limits; folder, rules and model stay unless they are given. */
async function changedConfig(
  { runtime, compose }: Pick<ApiSources, 'runtime' | 'compose'>,
  { config: before, limits }: CronJob,
  wish: RootRequest,
): Promise<AgentConfig> {
  const { model, profile, cwd, thinking, toolset, allow, deny } = wish;
  if (Object.values(wish).every((value) => value === undefined)) return before;
  const { workflow } = before;
  const replaced = profile !== undefined || toolset !== undefined;
  const own = replaced ? (await compose({ ...wish, model: model ?? before.model })).config : before;
  const rules = before.permissions.cli;
  const cli = { ...rules, allow: allow ?? rules.allow, deny: deny ?? rules.deny };
  const changed = {
    ...own,
    ...(workflow && { workflow }),
    cwd: cwd === undefined ? before.cwd : resolve(cwd),
    permissions: { ...own.permissions, cli },
    ...(model === undefined ? {} : { model }),
    ...(thinking === undefined ? {} : { thinking }),
  };
  return runtime.checked(changed, limits);
}

const jobSettings = { ...schedule, session, ...rootSettings };

/** The settings of a job, and those of the agents of its runs. */
function partsOf(body: z.infer<z.ZodObject<typeof jobSettings>>) {
  const { model, profile, cwd, thinking, toolset, allow, deny, timeout_seconds, workflow, ...rest } = body;
  const wish: RootRequest = { model, profile, cwd, thinking, toolset, allow, deny };
  const input: JobInput = { ...rest, timeout_s: timeout_seconds };
  return { input, wish, workflow };
}

/** What the runs of a job carry out in place of a model. A rule must allow a script that is new to the job: nobody can be asked. */
function workflowOf(
  sources: Pick<ApiSources, 'unled' | 'cwd'>,
  { name, script, args, calls }: NonNullable<z.infer<typeof schedule.workflow>>,
  root: Root,
  { task }: JobInput,
  before?: WorkflowTerms,
): WorkflowTerms {
  if (task !== undefined) throw new CoppiceError('E_USAGE', 'a job has a task or a workflow');
  const text = script ?? (name === undefined ? before?.script : undefined);
  const read = scriptOf(sources, { name, script: text }, root.config.cwd);
  // A job that keeps its script keeps what that runs.
  const keeps = name === undefined && script === undefined;
  const found = keeps ? { ...read, within: before?.within ?? [] } : read;
  const is_known = found.source === before?.script && isDeepStrictEqual(found.within, before.within ?? []);
  if (!is_known) assertAllowed(root.config, found);
  const said = args === undefined ? before?.args : JSON.stringify(args);
  const { config } = workflowRoot(root, found, { args: said, calls: calls ?? before?.calls });
  return config.workflow as WorkflowTerms;
}

function withTask(input: JobInput, workflow: WorkflowTerms | undefined): JobInput {
  return workflow === undefined
    ? input
    : { ...input, task: cutText(workflowText(workflow), WORKFLOW_TEXT_MAX, '…') };
}

/** One job in `coppice/cron-jobs/v1`. */
function jobJson(job: CronJob): JobDocument {
  const { limits: _, placement: __, version: ___, planned_at: ____, ...shown } = job;
  const { schedule, config, timeout_ms, created_at, updated_at, next_at, ...rest } = shown;
  const { model, thinking, profile = null, toolsets, cwd, permissions, workflow } = config;
  const { allow, deny } = permissions.cli;
  return {
    ...rest,
    schedule:
      schedule.type === 'cron'
        ? schedule
        : schedule.type === 'every'
          ? { type: 'every', every_seconds: schedule.every_ms / 1000 }
          : { type: 'at', at: isoTime(schedule.at) },
    session_key: job.session === 'isolated' ? `cron:${job.id}` : null,
    ...{ model, thinking, profile, toolsets, cwd, allow, deny },
    ...{ workflow: workflow?.name ?? null, args: workflow?.args ?? null },
    timeout_seconds: timeout_ms === null ? null : timeout_ms / 1000,
    next_at: isoTime(next_at),
    created_at: isoTime(created_at),
    updated_at: isoTime(updated_at),
  };
}

/** One instant in `coppice/cron-runs/v1`. */
async function jobRunJson(
  store: Store,
  { fire, run }: { readonly fire: CronFire; readonly run: Run | null },
): Promise<JobRunDocument> {
  const { job_id: _, run_id: __, instant, fired_at, ...rest } = fire;
  const agent = run?.finished_at === null ? await store.agent(run.agent_id) : null;
  const shown = run === null ? null : runJson(run, agent);
  return { ...rest, instant: isoTime(instant), fired_at: isoTime(fired_at), run: shown };
}
