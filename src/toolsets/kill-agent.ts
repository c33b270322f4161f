import { isTerminal } from '../core/state.ts';
import { describe, find, refuse } from './agent-reference.ts';
import type { Decision, ToolsetView } from './toolset.ts';

/** Ends a descendant of the caller and all below it (law 9); `output` is made from the ids that die. */
export function killAgent(
  view: ToolsetView,
  text: string,
  field: string,
  output: (killed: readonly string[]) => string,
): Decision {
  const found = find(text, field, view);
  if (!found.ok) return found.refused;
  const target = found.agent;
  if (target.id === view.self.id)
    return refuse('CANNOT_KILL_SELF', 'an agent cannot kill itself: end your turn instead.');
  if (target.parent_id === null)
    return refuse('CANNOT_KILL_ROOT', `${describe(target)} is the root of the tree.`);
  if (view.lineage(view.self).some((ancestor) => ancestor.id === target.id))
    return refuse('CANNOT_KILL_PARENT', `${describe(target)} is above you in the tree.`);
  if (!view.lineage(target).some((ancestor) => ancestor.id === view.self.id))
    return refuse('NOT_A_DESCENDANT', `${describe(target)} is not below you in the tree.`);
  if (isTerminal(target.state.type)) return refuse('ALREADY_DEAD', `${describe(target)} has ended already.`);
  const killed = view.subtree(target).map((agent) => agent.id);
  return {
    type: 'settle',
    output: output(killed),
    consequences: [{ type: 'kill-agents', agent_ids: [target.id] }],
  };
}
