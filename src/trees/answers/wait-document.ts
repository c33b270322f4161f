import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { type Agent, isActive } from '../../records/agent/agent.ts';
import { isTerminal } from '../../records/agent/state.ts';
import { outcomeOf } from '../../records/run/outcome.ts';
import { oneAgent, oneRoot, type ReadSources } from '../find-agent.ts';
import { unledTrees } from '../leaders/unled-reason.ts';
import { lookUntil, restOf } from '../rest.ts';

type WaitDocument = DocumentOf<'coppice/wait/v1'>;

interface WaitQuery {
  readonly agents?: readonly string[] | undefined;
  /** All agents of this tree, those that are created meanwhile too. */
  readonly tree?: string | undefined;
  readonly timeout_seconds: number;
}

/** Waits until none of these agents is working, the timeout expires, or `signal` is aborted. Only reads the ledger. */
export async function waitDocument(
  { store, unled }: ReadSources,
  { agents: names = [], tree, timeout_seconds }: WaitQuery,
  signal?: AbortSignal,
): Promise<WaitDocument> {
  const root = tree === undefined ? null : await oneRoot(store, tree);
  const named = await Promise.all(names.map((name) => oneAgent(store, name)));
  const ids = new Set(named.map(({ id }) => id));
  const agents = await lookUntil(
    { store },
    async () => {
      const found = await Promise.all([...ids].map((id) => store.agent(id)));
      const all = root === null ? [] : (await store.agents({ root_id: root.id })).toReversed();
      return [...found.filter((one) => one !== null), ...all.filter(({ id }) => !ids.has(id))];
    },
    (found) => !found.some(isActive),
    { ms: timeout_seconds * 1_000, signal },
  );
  const at_work = agents.filter(isActive);
  const unled_trees = await unledTrees(unled, store, at_work);
  return {
    schema: 'coppice/wait/v1',
    results: agents.map((agent) => rowOf(agent, unled_trees.get(agent.root_id) ?? null)),
    ...(at_work.length === 0 ? {} : { timed_out: true }),
  };
}

function rowOf(
  agent: Agent,
  unled: WaitDocument['results'][number]['unled'],
): WaitDocument['results'][number] {
  const works = isActive(agent);
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
