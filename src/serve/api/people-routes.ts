import { z } from 'zod';
import { runDocument } from '../../documents/run-json.ts';
import { ASK_SCOPES } from '../../records/conversation/ask.ts';
import { oneRun } from '../answers/find-one.ts';
import { findDeliveries, findWorker } from '../answers/find-rows.ts';
import {
  answerDocument,
  approvalsDocument,
  deliveriesDocument,
  ROWS_USUAL,
  runsAnswer,
  workersDocument,
} from '../answers/people-answers.ts';
import { removedRuleDocument, rulesDocument } from '../answers/rule-answers.ts';
import { cancelRun } from '../leading/cancel-run.ts';
import { before, countUpTo, flag, named, route } from './route.ts';

const ROWS_MAX = 1_000;
const NOTE_MAX = 10_000;
const RULE_MAX = 2_000;
const VALUE_MAX = 100_000;
const VALUES_MAX = 200;

const shown = z
  .string()
  .optional()
  .describe('`shown` of what was seen; default: the id in the path, which implies it');

const formValue = z.union([
  z.string().max(VALUE_MAX),
  z.number(),
  z.boolean(),
  z.array(z.string().max(VALUE_MAX)).max(VALUES_MAX),
]);

/** Routes for approvals, rules, runs, deliveries and workers. */
export const PEOPLE_ROUTES = [
  route({
    method: 'GET',
    path: '/v1/approvals',
    summary: 'Approvals that wait for an answer, oldest first',
    scope: 'read',
    answer: 'coppice/approvals/v1',
    query: z.strictObject({
      id: z.string().optional().describe('only this one, if it is open: its id, or the beginning of it'),
      tree: z.string().optional().describe('only of this tree'),
      all: flag.describe('of that tree, also answered ones'),
    }),
    handle: (sources, { query }) => approvalsDocument(sources, query),
  }),
  route({
    method: 'POST',
    path: '/v1/approvals/:approval/allow',
    summary: 'Allows this one call, or grants a rule, which also answers the open questions that it covers',
    scope: 'write',
    answer: 'coppice/approval/v1',
    body: z.strictObject({
      scope: z
        .enum(ASK_SCOPES)
        .default('once')
        .describe(
          'this call; or grant: to this agent until its turn ends, to this agent, to its tree, or in its folder for good',
        ),
      rule: z
        .string()
        .min(1)
        .max(RULE_MAX)
        .optional()
        .describe('what is granted, such as `bash:git status *`; default: the whole tool'),
      shown,
      values: z
        .record(z.string(), formValue)
        .optional()
        .describe('of a question: what is filled into its form, by field'),
    }),
    handle: (sources, request) =>
      answerDocument(sources, named(request, 'approval'), { verdict: 'allow', ...request.body }),
  }),
  route({
    method: 'POST',
    path: '/v1/approvals/:approval/deny',
    summary: 'Denies this one call',
    scope: 'write',
    answer: 'coppice/approval/v1',
    body: z.strictObject({
      note: z.string().max(NOTE_MAX).default('').describe('what the model is told'),
      shown,
      dismissed: z.boolean().optional().describe('of a question: it is dismissed without a decision'),
    }),
    handle: (sources, request) =>
      answerDocument(sources, named(request, 'approval'), { verdict: 'deny', ...request.body }),
  }),
  route({
    method: 'GET',
    path: '/v1/rules',
    summary: 'Rules that people granted in answer to approvals and that still hold, oldest first',
    scope: 'read',
    answer: 'coppice/rules/v1',
    handle: (sources) => rulesDocument(sources),
  }),
  route({
    method: 'DELETE',
    path: '/v1/rules/:rule',
    summary: 'Takes back a rule',
    scope: 'write',
    answer: 'coppice/rule/v1',
    handle: (sources, request) => removedRuleDocument(sources, named(request, 'rule')),
  }),
  route({
    method: 'GET',
    path: '/v1/runs',
    summary: 'Isolated runs, newest first',
    scope: 'read',
    answer: 'coppice/subagent-runs/v1',
    query: z.strictObject({
      active: flag.describe('only queued and running ones'),
      job: z.string().optional().describe('only of this scheduled job'),
      before,
      limit: countUpTo(ROWS_MAX, ROWS_USUAL).describe('maximum runs'),
    }),
    handle: async (sources, { query: { job, ...query } }) =>
      runsAnswer(sources, query, job === undefined ? undefined : (await sources.jobs.find(job)).id),
  }),
  route({
    method: 'GET',
    path: '/v1/runs/:run',
    summary: 'One run',
    scope: 'read',
    answer: 'coppice/subagent-run/v1',
    handle: async ({ store }, request) => runDocument(store, await oneRun(store, named(request, 'run'))),
  }),
  route({
    method: 'POST',
    path: '/v1/runs/:run/cancel',
    summary: 'Stops a run; what it did is kept',
    scope: 'write',
    answer: 'coppice/subagent-run/v1',
    handle: async ({ store }, request) =>
      runDocument(store, await cancelRun(store, await oneRun(store, named(request, 'run')))),
  }),
  route({
    method: 'GET',
    path: '/v1/deliveries',
    summary: 'Deliveries, newest first',
    scope: 'read',
    answer: 'coppice/deliveries/v1',
    query: z.strictObject({
      status: z.enum(['pending', 'delivered', 'failed']).optional().describe('only these'),
      before,
      limit: countUpTo(ROWS_MAX, ROWS_USUAL).describe('maximum deliveries'),
    }),
    handle: (sources, { query }) => deliveriesDocument(sources, query),
  }),
  route({
    method: 'POST',
    path: '/v1/deliveries/retry',
    summary: 'Tries failed deliveries again, and those that wait for their next try',
    scope: 'write',
    answer: 'coppice/deliveries-retried/v1',
    body: z.strictObject({
      deliveries: z
        .array(z.string().min(1).max(200))
        .max(ROWS_MAX)
        .optional()
        .describe('ids; without any, all failed ones'),
    }),
    handle: async ({ store, onEntered }, { body }) => {
      const found = await Promise.all((body.deliveries ?? []).map((text) => findDeliveries(store, text)));
      const ids = body.deliveries === undefined ? null : found.flat().map(({ id }) => id);
      const retried = await store.retryDeliveries(ids, await store.now());
      onEntered();
      return { retried };
    },
  }),
  route({
    method: 'GET',
    path: '/v1/workers',
    summary: 'Processes that lead agents of this ledger, oldest first',
    scope: 'read',
    answer: 'coppice/workers/v1',
    handle: (sources) => workersDocument(sources),
  }),
  route({
    method: 'POST',
    path: '/v1/workers/:worker/drain',
    summary: 'Tells a worker to take no more trees, finish its turns, and stop',
    scope: 'write',
    answer: 'coppice/worker-drained/v1',
    handle: async ({ store }, request) => {
      const worker = findWorker(await store.workers(), named(request, 'worker'));
      await store.drainWorker(worker.id);
      return { id: worker.id, host: worker.host, pid: worker.pid };
    },
  }),
] as const;
