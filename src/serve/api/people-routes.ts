import { z } from 'zod';
import { approvalsJson, askJson } from '../../documents/approval-json.ts';
import { deliveryJson } from '../../documents/delivery-json.ts';
import { findRun, runDocument } from '../../documents/run-json.ts';
import { workersJson } from '../../documents/worker-json.ts';
import type { AskScope } from '../../records/conversation/ask.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { storable } from '../../records/text/text.ts';
import type { Store } from '../../store/store.ts';
import { oneRoot } from '../answers/find-one.ts';
import { findAsk, findDeliveries, findWorker } from '../answers/find-rows.ts';
import { cancelRun } from '../leading/cancel-run.ts';
import { runsDocument } from '../leading/leaders.ts';
import { countUpTo, flag, named, route } from './route.ts';

const ROWS_MAX = 1_000;
const NOTE_MAX = 10_000;

/** Approvals, runs, deliveries and workers: what people look after. */
export const PEOPLE_ROUTES = [
  route({
    method: 'GET',
    path: '/v1/approvals',
    summary: 'Approvals that wait for an answer, oldest first',
    scope: 'read',
    answer: 'coppice/approvals/v1',
    query: z.strictObject({
      tree: z.string().optional().describe('only of this tree'),
      all: flag.describe('of that tree, also answered ones'),
    }),
    handle: async ({ store }, { query }) => {
      const root = query.tree === undefined ? null : await oneRoot(store, query.tree);
      const asks = await store.asks(
        root === null ? { open: true } : { root_id: root.id, open: query.all !== true },
      );
      return { approvals: await approvalsJson(store, asks) };
    },
  }),
  route({
    method: 'POST',
    path: '/v1/approvals/:approval/allow',
    summary: 'Allows this one call, or this tool for its agent',
    scope: 'write',
    answer: 'coppice/approval/v1',
    body: z.strictObject({
      scope: z.enum(['once', 'agent']).default('once').describe('this call, or this tool for this agent'),
    }),
    handle: ({ store, runtime }, request) =>
      answer(store, runtime, named(request, 'approval'), 'allow', request.body.scope, ''),
  }),
  route({
    method: 'POST',
    path: '/v1/approvals/:approval/deny',
    summary: 'Denies this one call',
    scope: 'write',
    answer: 'coppice/approval/v1',
    body: z.strictObject({ note: z.string().max(NOTE_MAX).default('').describe('what the model is told') }),
    handle: ({ store, runtime }, request) =>
      answer(store, runtime, named(request, 'approval'), 'deny', 'once', request.body.note),
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
      limit: countUpTo(ROWS_MAX, 100).describe('maximum runs'),
    }),
    handle: async ({ store, jobs }, { query: { active, job, limit } }) => {
      const job_id = job === undefined ? undefined : (await jobs.find(job)).id;
      const runs = await store.runs({
        limit,
        ...(active === true ? { active } : {}),
        ...(job_id === undefined ? {} : { job_id }),
      });
      return runsDocument(store, runs);
    },
  }),
  route({
    method: 'GET',
    path: '/v1/runs/:run',
    summary: 'One run',
    scope: 'read',
    answer: 'coppice/subagent-run/v1',
    handle: async ({ store }, request) => runDocument(store, await findRun(store, named(request, 'run'))),
  }),
  route({
    method: 'POST',
    path: '/v1/runs/:run/cancel',
    summary: 'Stops a run; what it did is kept',
    scope: 'write',
    answer: 'coppice/subagent-run/v1',
    handle: async ({ store }, request) =>
      runDocument(store, await cancelRun(store, await findRun(store, named(request, 'run')))),
  }),
  route({
    method: 'GET',
    path: '/v1/deliveries',
    summary: 'Deliveries, newest first',
    scope: 'read',
    answer: 'coppice/deliveries/v1',
    query: z.strictObject({
      status: z.enum(['pending', 'delivered', 'failed']).optional().describe('only these'),
      limit: countUpTo(ROWS_MAX, 100).describe('maximum deliveries'),
    }),
    handle: async ({ store }, { query: { status, limit } }) => ({
      deliveries: (await store.deliveries({ limit, ...(status === undefined ? {} : { status }) })).map(
        deliveryJson,
      ),
    }),
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
    handle: async ({ store }) => ({ workers: await workersJson(store) }),
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

async function answer(
  store: Store,
  runtime: { answer: import('../../runtime/runtime-face.ts').RuntimeFace['answer'] },
  text: string,
  verdict: 'allow' | 'deny',
  scope: AskScope,
  note: string,
): Promise<object> {
  const ask = await findAsk(store, text);
  if (ask.verdict !== null) {
    const why = ask.verdict === 'void' ? 'its call is gone' : 'it was answered already';
    throw new CoppiceError('E_ASK_ANSWERED', `the approval ${ask.id.slice(0, 8)} is closed: ${why}`);
  }
  await runtime.answer(ask.id, { verdict, scope, note: storable(note) });
  const [answered = ask] = await store.findAsks(ask.id);
  return askJson(answered);
}
