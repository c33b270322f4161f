import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import type { Agent } from '../../records/agent/agent.ts';
import { isTerminal } from '../../records/agent/state.ts';
import { outcomeOf } from '../../records/run/outcome.ts';
import type { ReadSources } from '../find-agent.ts';
import { oneAgent } from '../find-agent.ts';
import { unledTrees } from '../leaders/unled-reason.ts';
import { isAtWork, lookUntil, restOf } from '../rest.ts';

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
  const agents = await lookUntil(
    { store },
    async () => (await Promise.all(ids.map((id) => store.agent(id)))).filter((one) => one !== null),
    (found) => !found.some(isAtWork),
    { ms: timeout_seconds * 1_000, signal },
  );
  const roots = new Set(agents.flatMap((agent) => (isAtWork(agent) ? agent.root_id : [])));
  const living = await Promise.all([...roots].map((root_id) => store.agents({ root_id, living: true })));
  const unled_trees = await unledTrees(unled, store, living.flat());
  return {
    schema: 'coppice/wait/v1',
    results: agents.map((agent) => rowOf(agent, unled_trees.get(agent.root_id) ?? null)),
    ...(roots.size === 0 ? {} : { timed_out: true }),
  };
}

function rowOf(
  agent: Agent,
  unled: WaitDocument['results'][number]['unled'],
): WaitDocument['results'][number] {
  const works = isAtWork(agent);
  return {
    agent_id: agent.id,
    root_id: agent.root_id,
    name: agent.name,
    status: isTerminal(agent.state.type) ? 'dead' : works ? 'running' : 'idle',
    last_reply: agent.reply,
    ...restOf(agent, works, Date.now()),
    unled: works ? unled : null,
    ...outcomeOf(agent, unled?.why),
  };
}
