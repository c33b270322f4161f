import type { Agent } from '../../../records/agent/agent.ts';
import { isTerminal } from '../../../records/agent/state.ts';
import type { Decision, ToolsetView } from '../toolset.ts';
import { agentInMessage, find, type Refused, refuse, settle } from './agent-reference.ts';

/**
 * Kills the named descendants of the caller with all their descendants (law 9), or none if one is refused. Ended ones among several are skipped. `output`
 * formats the ids of the killed agents.
 */
export function killAgents(
  view: ToolsetView,
  texts: readonly string[],
  field: string,
  output: (killed: readonly string[]) => string,
): Decision {
  const targets: Agent[] = [];
  for (const text of texts) {
    const found = find(text, field, view);
    if (!found.ok) return found.refused;
    const refused = forbidden(found.agent, view);
    if (refused !== null) return refused;
    targets.push(found.agent);
  }
  const living = targets.filter(({ state }) => !isTerminal(state.type));
  if (living.length === 0)
    return refuse('ALREADY_DEAD', `${targets.map(agentInMessage).join(', ')}: ended already.`);
  const killed = new Set(living.flatMap((target) => view.subtree(target).map(({ id }) => id)));
  const agent_ids = [...new Set(living.map(({ id }) => id))];
  return settle(output([...killed]), { type: 'kill-agents', agent_ids });
}

function forbidden(target: Agent, view: ToolsetView): Refused | null {
  if (target.id === view.self.id)
    return refuse('CANNOT_KILL_SELF', 'an agent cannot kill itself: end your turn instead.');
  if (target.parent_id === null)
    return refuse('CANNOT_KILL_ROOT', `${agentInMessage(target)} is the root of the tree.`);
  if (view.lineage(view.self).some((ancestor) => ancestor.id === target.id))
    return refuse('CANNOT_KILL_PARENT', `${agentInMessage(target)} is above you in the tree.`);
  if (!view.lineage(target).some((ancestor) => ancestor.id === view.self.id))
    return refuse('NOT_A_DESCENDANT', `${agentInMessage(target)} is not below you in the tree.`);
  return null;
}
