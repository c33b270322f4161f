import type { Agent } from '../../../records/agent/agent.ts';
import type { UiState } from '../ui-state.ts';

/** Number of slots besides that of the root. */
export const SLOTS = 9;

/** The slot of an agent; 0 is the root. */
export function slotOf(state: UiState, agent_id: string): number | null {
  return agent_id === state.root_id ? 0 : (state.slots.get(agent_id) ?? null);
}

export function agentAtSlot(state: UiState, slot: number): string | null {
  if (slot === 0) return state.root_id;
  for (const [id, taken] of state.slots) if (taken === slot) return id;
  return null;
}

/** Agents by number: those whose index in order of creation is above `SLOTS` (the root has index 0). */
export function numberedAgents(state: UiState): ReadonlyMap<number, Agent> {
  return new Map([...state.agents.values()].entries().filter(([place]) => place > SLOTS));
}

/** A new agent gets the lowest free slot, and keeps it until it is reaped. */
export function withSlot(state: UiState, agent_id: string): UiState {
  if (agent_id === state.root_id || state.slots.size >= SLOTS) return state;
  const taken = new Set(state.slots.values());
  let slot = 1;
  while (taken.has(slot)) slot += 1;
  return { ...state, slots: new Map([...state.slots, [agent_id, slot]]) };
}

/** Gives an agent a slot; the agent that held it gets the former slot of the other, if any. */
export function pinned(state: UiState, agent_id: string, slot: number): UiState {
  if (agent_id === state.root_id || !state.agents.has(agent_id) || slot < 1 || slot > SLOTS) return state;
  const slots = new Map(state.slots);
  const [holder, old] = [agentAtSlot(state, slot), slots.get(agent_id)];
  if (holder !== null && holder !== agent_id) {
    if (old === undefined) slots.delete(holder);
    else slots.set(holder, old);
  }
  return { ...state, slots: slots.set(agent_id, slot) };
}
