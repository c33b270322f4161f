import { isTerminal, isWorking } from '../../records/agent/state.ts';
import type { AgentFacts } from './facts.ts';
import type { Unit } from './unit.ts';

/*
 * Who leads what. `unled` holds every agent of a served tree that has something to do (it is at work, or there is mail for it) and no worker, with the time
 * before which nobody need come, so that nobody has to look for such agents among those that are parked.
 */

/** Something reached or changed an agent that `worker` leads or whose waiter it leads; who wrote it (`writer`) knows already. */
export function signal(
  unit: Unit,
  { worker, id }: AgentFacts,
  writer: string | null,
  kind: 'mail' | 'killed' | 'status',
  about: string | null = null,
): void {
  if (worker === null || worker === writer) return;
  unit.rows.insert('signals', { worker, agent_id: id, kind, about });
  unit.rows.notify(`coppice_worker_${worker}`, '');
}

/**
 * Enters those that have something to do and no worker, if their tree is served. `parked`: who among them needs nobody before a time; `Infinity`: not before
 * there is mail.
 */
export function seekLeader(
  unit: Unit,
  agents: readonly AgentFacts[],
  parked?: ReadonlyMap<string, number>,
): void {
  const seekers = agents.filter(
    (agent) =>
      agent.worker === null && !isTerminal(agent.status) && unit.tree(agent.root_id)?.served === true,
  );
  const silent = seekers.map(({ id }) => id).filter((id) => !unit.hasNewMail(id));
  unit.want({ pending: silent, unled: parked === undefined ? [] : silent });
  for (const agent of seekers) {
    const due = unit.hasMail(agent.id) ? 0 : dueOf(agent, parked);
    if (due === null) continue;
    const { root_id, id: agent_id } = agent;
    const before = due === 0 ? null : unit.facts.get('unled', agent_id);
    if (before === null || before > due) unit.rows.replace('unled', { root_id, agent_id, due_at: due });
  }
}

function dueOf({ id, status }: AgentFacts, parked: ReadonlyMap<string, number> | undefined): number | null {
  if (!isWorking(status)) return null;
  const due = parked?.get(id) ?? 0;
  return Number.isFinite(due) ? Math.ceil(due) : null;
}

export function leaveUnled(unit: Unit, { root_id, id }: AgentFacts): void {
  unit.rows.delete('unled', { root_id, agent_id: id });
}

/** From now on the tree is served. */
export function serve(unit: Unit, root_id: string): void {
  const tree = unit.tree(root_id);
  if (tree === null || tree.served) return;
  unit.setTree(tree, { served: true });
  const members = unit.facts.get('members', root_id);
  unit.want({ agent: members });
  seekLeader(
    unit,
    members.flatMap((id) => unit.agent(id) ?? []),
  );
}
