import { failureJson } from '../../documents/agent-json.ts';
import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { type Agent, isActive } from '../../records/agent/agent.ts';
import { deedsLine } from '../../records/agent/deeds-line.ts';
import { isTerminal } from '../../records/agent/state.ts';
import { cutShort } from '../../records/conversation/child-text.ts';
import { outcomeOf } from '../../records/run/outcome.ts';
import type { Store } from '../../store/store.ts';
import type { ReadSources } from '../find-agent.ts';
import { oneAgent } from '../find-agent.ts';
import { unledTrees } from '../leaders/unled-reason.ts';
import { ledgerHints } from '../ledger-hints.ts';

const POLL_MS = 500;

type WaitDocument = DocumentOf<'coppice/wait/v1'>;

/** Waits until none of these agents is working, the timeout expires, or `signal` is aborted. Only reads the ledger. */
export async function waitDocument(
  { store, unled }: ReadSources,
  {
    agents: names,
    timeout_seconds,
  }: { readonly agents: readonly string[]; readonly timeout_seconds: number },
  signal?: AbortSignal,
): Promise<WaitDocument> {
  const named = await Promise.all(names.map((name) => oneAgent(store, name)));
  const ids = [...new Set(named.map(({ id }) => id))];
  const agents = await restAfterSummary(store, ids, timeout_seconds * 1_000, signal);
  const roots = new Set(agents.flatMap((agent) => (isActive(agent) ? agent.root_id : [])));
  const living = await Promise.all([...roots].map((root_id) => store.agents({ root_id, living: true })));
  const unled_trees = await unledTrees(unled, store, living.flat());
  return {
    schema: 'coppice/wait/v1',
    results: agents.map((agent) => rowOf(agent, unled_trees.get(agent.root_id) ?? null)),
    ...(roots.size === 0 ? {} : { timed_out: true }),
  };
}

/** Returns the agents as soon as none of them is active, or when the wait is over. */
async function restAfterSummary(
  store: Store,
  ids: readonly string[],
  timeout_ms: number,
  signal: AbortSignal | undefined,
): Promise<readonly Agent[]> {
  const deadline = performance.now() + timeout_ms;
  const hints = await ledgerHints(store, POLL_MS);
  signal?.addEventListener('abort', hints.wake);
  try {
    for (;;) {
      const agents = (await Promise.all(ids.map((id) => store.agent(id)))).filter((agent) => agent !== null);
      const left = deadline - performance.now();
      if (!agents.some(isActive) || left <= 0 || signal?.aborted === true) return agents;
      await hints.next(left);
    }
  } finally {
    signal?.removeEventListener('abort', hints.wake);
    await hints.stop();
  }
}

function rowOf(
  agent: Agent,
  unled: WaitDocument['results'][number]['unled'],
): WaitDocument['results'][number] {
  const works = isActive(agent);
  const error = works || agent.state.type === 'killed' ? null : failureJson(agent);
  const limit = works ? null : cutShort(agent.state);
  const did = deedsLine(agent, Date.now());
  return {
    agent_id: agent.id,
    root_id: agent.root_id,
    name: agent.name,
    status: isTerminal(agent.state.type) ? 'dead' : works ? 'running' : 'idle',
    last_reply: agent.reply,
    ...(error === null ? {} : { error: error.message }),
    ...(limit === null ? {} : { limit }),
    ...(did === undefined ? {} : { did }),
    unled: works ? unled : null,
    ...outcomeOf(agent, unled?.why),
  };
}
