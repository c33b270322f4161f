import { z } from 'zod';
import { runDocument } from '../../documents/run-json.ts';
import { ASK_SCOPES } from '../../records/conversation/ask.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import type { Delivery } from '../../records/run/delivery.ts';
import { isFinished, type Run } from '../../records/run/run.ts';
import { grantedRules, removeGrantedRule } from '../../store/approvals/granted-rules.ts';
import type { KnownWorker, Store } from '../../store/store.ts';
import {
  APPROVALS_USUAL,
  answerDocument,
  approvalsDocument,
  deliveriesDocument,
  isLed,
  ROWS_USUAL,
  runsAnswer,
  workersDocument,
} from '../../trees/answers/people-answers.ts';
import { isNotFound, oneRun } from '../../trees/find-agent.ts';
import { lookUntil } from '../../trees/rest.ts';
import { type ApiSources, before, countUpTo, flag, named, route, someText } from './route.ts';

const ROWS_MAX = 1_000;
const NOTE_MAX = 10_000;
const RULE_MAX = 2_000;
const VALUE_MAX = 100_000;
const VALUES_MAX = 200;

const shownDigestField = z
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
    route: 'GET /v1/approvals',
    summary: 'Approvals that wait for an answer, oldest first',
    answer: 'coppice/approvals/v1',
    query: z.strictObject({
      id: z.string().optional().describe('only this one, if it is open: its id, or the beginning of it'),
      tree: z.string().optional().describe('only of this tree'),
      all: flag.describe('of that tree, also answered ones'),
      after: z.string().max(300).optional().describe('`next` of the previous page'),
      limit: countUpTo(ROWS_MAX, APPROVALS_USUAL).describe('maximum approvals'),
    }),
    handle: (sources, { query }) => approvalsDocument(sources, query),
  }),
  route({
    route: 'POST /v1/approvals/:approval/allow',
    summary: 'Allows this one call, or grants a rule, which also answers the open questions that it covers',
    answer: 'coppice/approval/v1',
    body: z.strictObject({
      scope: z
        .enum(ASK_SCOPES)
        .default('once')
        .describe(
          'this call; or grant: to this agent until its turn ends, to this agent, to its tree, or in its folder for good',
        ),
      rule: someText(RULE_MAX)
        .optional()
        .describe('what is granted, such as `bash:git status *`; default: the whole tool'),
      shown: shownDigestField,
      values: z
        .record(z.string(), formValue)
        .optional()
        .describe(
          'of a question: what is filled into its form, by field; under an empty name, that of the one field that it needs. The number of a choice stands for it',
        ),
    }),
    handle: (sources, request) =>
      answerDocument(sources, named(request, 'approval'), { verdict: 'allow', ...request.body }),
  }),
  route({
    route: 'POST /v1/approvals/:approval/deny',
    summary: 'Denies this one call',
    answer: 'coppice/approval/v1',
    body: z.strictObject({
      note: z.string().max(NOTE_MAX).default('').describe('what the model is told'),
      shown: shownDigestField,
      dismissed: z.boolean().optional().describe('of a question: it is dismissed without a decision'),
    }),
    handle: (sources, request) =>
      answerDocument(sources, named(request, 'approval'), { verdict: 'deny', ...request.body }),
  }),
  route({
    route: 'GET /v1/rules',
    summary: 'Rules that people granted in answer to approvals and that still hold, oldest first',
    answer: 'coppice/rules/v1',
    handle: async ({ store, rules_file: file }) => ({ file, rules: await grantedRules(store, file) }),
  }),
  route({
    route: 'DELETE /v1/rules/:rule',
    summary: 'Takes back a rule',
    answer: 'coppice/rule/v1',
    handle: ({ store, rules_file }, request) => removeGrantedRule(store, rules_file, named(request, 'rule')),
  }),
  route({
    route: 'GET /v1/runs',
    summary: 'Isolated runs, newest first',
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
    route: 'GET /v1/runs/:run',
    summary: 'One run',
    answer: 'coppice/subagent-run/v1',
    handle: async ({ store }, request) => runDocument(store, await oneRun(store, named(request, 'run'))),
  }),
  route({
    route: 'POST /v1/runs/:run/cancel',
    summary: 'Stops a run; what it did is kept',
    answer: 'coppice/subagent-run/v1',
    handle: async (sources, request) => {
      const run = await oneRun(sources.store, named(request, 'run'));
      return runDocument(sources.store, await cancelRun(sources, run));
    },
  }),
  route({
    route: 'GET /v1/deliveries',
    summary: 'Deliveries, newest first',
    answer: 'coppice/deliveries/v1',
    query: z.strictObject({
      status: z.enum(['pending', 'delivered', 'failed']).optional().describe('only these'),
      kind: z.literal('alert').optional().describe('only [alerts](operations.md#alerts)'),
      before,
      limit: countUpTo(ROWS_MAX, ROWS_USUAL).describe('maximum deliveries'),
    }),
    handle: (sources, { query }) => deliveriesDocument(sources, query),
  }),
  route({
    route: 'POST /v1/deliveries/retry',
    summary: 'Tries failed deliveries again, and those that wait for their next try',
    answer: 'coppice/deliveries-retried/v1',
    body: z.strictObject({
      deliveries: z
        .array(someText(200))
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
    route: 'GET /v1/alerts',
    summary: 'Rules for alerts, as the configuration had them when the server started',
    answer: 'coppice/alerts/v1',
    handle: async ({ alerts }) => alerts,
  }),
  route({
    route: 'GET /v1/workers',
    summary: 'Processes that lead agents of this ledger, oldest first',
    answer: 'coppice/workers/v1',
    handle: (sources) => workersDocument(sources),
  }),
  route({
    route: 'POST /v1/workers/:worker/drain',
    summary: 'Tells a worker to take no more trees, finish its turns, and stop',
    answer: 'coppice/worker-drained/v1',
    handle: async ({ store }, request) => {
      const worker = findWorker(await store.workers(), named(request, 'worker'));
      await store.drainWorker(worker.id);
      return { id: worker.id, host: worker.host, pid: worker.pid };
    },
  }),
] as const;

/** Finds deliveries by id, unique prefix or subject (`about`); all of them must have the same subject. Rejects with `E_DELIVERY_NOT_FOUND`. */
async function findDeliveries(store: Store, text: string): Promise<Delivery[]> {
  const found = await store.findDeliveries(text);
  const alike = new Set(found.map(({ about, id }) => about ?? id));
  if (found.length > 0 && alike.size === 1) return found;
  throw new CoppiceError(
    'E_DELIVERY_NOT_FOUND',
    found.length === 0 ? `no delivery "${text}"` : `"${text}" matches ${found.length} deliveries`,
    { hint: found.length === 0 ? 'See: coppice deliveries list' : 'Use a longer id.' },
  );
}

/** Finds a worker by id or unique prefix. Throws `E_WORKER_NOT_FOUND`. */
function findWorker(workers: readonly KnownWorker[], text: string): KnownWorker {
  const matches = workers.filter(({ id, role }) => role === 'worker' && id.startsWith(text.toLowerCase()));
  const [only] = matches;
  if (only !== undefined && matches.length === 1) return only;
  const what = matches.length === 0 ? `no worker "${text}"` : `"${text}" matches ${matches.length} workers`;
  throw new CoppiceError('E_WORKER_NOT_FOUND', what, { hint: 'See: coppice worker list' });
}

type Sources = Pick<ApiSources, 'store' | 'runtime'>;

/** Grace period for the process that leads the run to stop it, before the run is killed. */
const STOP_MS = 3_000;

/**
 * Asks the process that leads the run to stop it, which keeps what was done; kills the run if no process leads it, or if it does not stop in time.
 * Rejects with `E_RUN_FINISHED`.
 */
async function cancelRun({ store, runtime }: Sources, run: Run): Promise<Run> {
  if (isFinished(run.status))
    throw new CoppiceError('E_RUN_FINISHED', `the run ${run.id} has ended already: ${run.status}`, {
      hint: `See: coppice subagent show ${run.id.slice(0, 8)}`,
    });
  const agent = await store.agent(run.agent_id);
  if (agent !== null && (await isLed(store, agent))) await askToStop({ store, runtime }, run);
  else await runtime.kill(run.agent_id).catch(unlessGone);
  return (await store.findRuns(run.id))[0] ?? run;
}

async function askToStop({ store, runtime }: Sources, run: Run): Promise<void> {
  await runtime.interrupt(run.agent_id, 'cancelled by you').catch(unlessGone);
  const look = async () => (await store.findRuns(run.id)).every(({ status }) => isFinished(status));
  if (!(await lookUntil({ store }, look, (is_over) => is_over, { ms: STOP_MS })))
    await runtime.kill(run.agent_id).catch(unlessGone);
}

/** The agent has just ended by itself, or was deleted with its run. */
function unlessGone(error: unknown): void {
  const is_dead = error instanceof CoppiceError && error.code === 'E_AGENT_DEAD';
  if (!is_dead && !isNotFound(error)) throw error;
}
