import { slotOf } from '../../state/family.ts';
import type { UiState } from '../../state/ui-state.ts';

/** What a view must know of agents that a text names by id. */
export interface AgentNames {
  readonly name: (agent_id: string) => string | null;
  readonly slot: (agent_id: string) => number | null;
}

export function agentNames(state: UiState): AgentNames {
  return {
    name: (agent_id) => state.agents.get(agent_id)?.name ?? null,
    slot: (agent_id) => slotOf(state, agent_id),
  };
}
