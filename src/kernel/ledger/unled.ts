import { isTerminal, isWorking } from '../../records/agent/state.ts';
import type { AgentFacts } from './facts.ts';
import type { UnitOfWork } from './unit-of-work.ts';

/*
 * Agents that need a leader, and signals to the workers that lead agents. The table `unled` holds every agent of a served tree that has something to do (a
 * turn, or mail) and no worker, with the time from which it needs one, so that finding them takes no scan of parked agents.
 */

/** A due time so far in the past: at once, whatever the clock is set to. Without this summand it is the time since which a leader is missing. */
export const AT_ONCE_MS = -1e15;

/** Signals mail, a kill, or a change of `about`, for which the agent waits, to the worker that leads the agent; a no-op if that is the writer. */
export function signal(
  unit: UnitOfWork,
  { worker, id }: Pick<AgentFacts, 'worker' | 'id'>,
  writer: string | null,
  kind: 'mail' | 'killed' | 'status',
  about: string | null = null,
): void {
  if (worker === null || worker === writer) return;
  unit.rows.insert('signals', { worker, agent_id: id, kind, about });
  unit.rows.notify(`coppice_worker_${worker}`, '');
}

/**
 * Enters into `unled` those of these agents that belong to served trees, have something to do and have no worker. `parked`: for agents at work, the time
 * from which each needs a leader, milliseconds since the epoch; `Infinity`: only once it has mail. `since`: when they lost theirs.
 */
export function enterUnled(
  unit: UnitOfWork,
  agents: readonly AgentFacts[],
  parked?: ReadonlyMap<string, number>,
  since = unit.facts.now,
): void {
  const candidates = agents.filter(
    (agent) =>
      agent.worker === null && !isTerminal(agent.status) && unit.tree(agent.root_id)?.served === true,
  );
  const silent = candidates.map(({ id }) => id).filter((id) => !unit.hasNewMail(id));
  unit.prefetch({ pending: silent, unled: parked === undefined ? [] : silent });
  for (const agent of candidates) {
    const due = unit.hasMail(agent.id) ? 0 : dueOf(agent, parked);
    if (due === null) continue;
    const { root_id, id: agent_id } = agent;
    const before = due === 0 ? null : unit.facts.get('unled', agent_id);
    const due_at = due === 0 ? since + AT_ONCE_MS : due;
    if (before === null || before > due) unit.rows.replace('unled', { root_id, agent_id, due_at });
  }
}

function dueOf({ id, status }: AgentFacts, parked: ReadonlyMap<string, number> | undefined): number | null {
  if (!isWorking(status)) return null;
  const due = parked?.get(id) ?? 0;
  return Number.isFinite(due) ? Math.ceil(due) : null;
}

export function leaveUnled(unit: UnitOfWork, { root_id, id }: AgentFacts): void {
  unit.rows.delete('unled', { root_id, agent_id: id });
}

/** Marks the tree as served. Idempotent. */
export function markServed(unit: UnitOfWork, root_id: string): void {
  const tree = unit.tree(root_id);
  if (tree === null || tree.served) return;
  unit.setTree(tree, { served: true });
  const members = unit.facts.get('members', root_id);
  unit.prefetch({ agent: members });
  enterUnled(
    unit,
    members.flatMap((id) => unit.agent(id) ?? []),
  );
}
