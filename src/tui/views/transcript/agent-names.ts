import { slotOf } from '../../state/agents/slots.ts';
import type { UiState } from '../../state/ui-state.ts';

/** Resolves agents that a text refers to by id. */
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
