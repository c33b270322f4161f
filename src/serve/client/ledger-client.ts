import { randomUUID } from 'node:crypto';
import { runDocument } from '../../documents/run-json.ts';
import { ledgerOrders } from '../../runtime/orders/ledger-orders.ts';
import { agentDocument, agentsDocument, messagesDocument } from '../../trees/answers/agent-answers.ts';
import {
  answerDocument,
  approvalsDocument,
  deliveriesDocument,
  killedDocument,
  runsAnswer,
  sentDocument,
  workersDocument,
} from '../../trees/answers/people-answers.ts';
import { treeDocument, treesDocument } from '../../trees/answers/tree-answers.ts';
import { waitDocument } from '../../trees/answers/wait-document.ts';
import { oneRun } from '../../trees/find-agent.ts';
import { type Hints, ledgerHints } from '../../trees/rest.ts';
import type { ApiSources } from '../api/route.ts';
import { type Calls, methodsOf } from './client.ts';
import { queryOf } from './client-request.ts';

/** The API that commands use, backed by a server or by a ledger that this process has opened. */
export interface Asked extends Calls {
  /** Hints that something has happened to this agent. */
  readonly hints: (agent_id: string) => Promise<Hints>;
}

const POLL_MS = 1_000;

/**
 * The HTTP API over a ledger, without a server. The documents that commands read most are made without the request schemas, which take longer to load
 * than everything else; `sources` is called only for the other routes.
 */
export function ledgerClient(
  read: Pick<ApiSources, 'store' | 'unled' | 'rules_file'>,
  sources: () => Promise<ApiSources>,
): Asked {
  const { store } = read;
  const ordering = { store, runtime: ledgerOrders(store, read) };
  const routed = routedClient(sources);
  return {
    ...routed,
    agents: (query = {}) => agentsDocument(read, query),
    agent: (id) => agentDocument(read, id),
    diff: async (id, query) =>
      (await import('../../trees/looking-back/diff.ts')).diffDocument(store, id, query?.with ?? ''),
    // Knows all tools, which most commands need not load.
    why: async (id, query = {}) =>
      (await import('../../trees/looking-back/why.ts')).whyDocument(store, id, query),
    messages: (id, query = {}) => messagesDocument(read, id, query),
    trees: (query = {}) => treesDocument(read, query),
    tree: (id) => treeDocument(read, id),
    wait: ({ timeout_seconds = 0, ...whom } = {}, { signal } = {}) =>
      waitDocument(read, { ...whom, timeout_seconds }, signal),
    approvals: (query = {}) => approvalsDocument(read, query),
    allow: (id, given = {}) => answerDocument(ordering, id, { verdict: 'allow', ...given }),
    deny: (id, given = {}) => answerDocument(ordering, id, { verdict: 'deny', ...given }),
    runs: (query = {}) => (query.job === undefined ? runsAnswer(read, query) : routed.runs(query)),
    run: async (id) => ({
      schema: 'coppice/subagent-run/v1',
      ...(await runDocument(store, await oneRun(store, id))),
    }),
    deliveries: (query = {}) => deliveriesDocument(read, query),
    workers: () => workersDocument(read),
    send: (id, body) => sentDocument(ordering, id, body),
    kill: (id) => killedDocument(ordering, id),
    hints: () => ledgerHints(store, POLL_MS),
  };
}

/** Methods that call the handlers of their routes in this process. */
function routedClient(open: () => Promise<ApiSources>): Calls {
  // Once: what they have read of history counts for the next call.
  let sources: Promise<ApiSources> | undefined;
  return methodsOf(async ({ route: key }, path, input, { signal = new AbortController().signal }) => {
    const [{ ROUTES }, { callRoute }] = await Promise.all([
      import('../api/all-routes.ts'),
      import('../api/call-route.ts'),
    ]);
    const route = ROUTES.find((one) => `${one.method} ${one.path}` === key);
    if (route === undefined) throw new Error(`no route ${key}`);
    const query = route.method === 'GET' ? Object.fromEntries(new URLSearchParams(queryOf(input))) : {};
    sources ??= open();
    return callRoute(route, await sources, { path, query, body: input, id: randomUUID(), signal });
  });
}
