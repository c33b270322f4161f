import type { AgentState } from './state.ts';

/** Wait-for edges (law 10): the agents that this one cannot go on without. */
export function waitEdges(state: AgentState): readonly string[] {
  if (state.type === 'executing') {
    const waits = state.running.flatMap((running) => running.wait?.from ?? []);
    return waits.length === 0 ? state.spawned : [...new Set([...waits, ...state.spawned])];
  }
  return state.type === 'awaiting' || state.type === 'cancelling' ? state.pending : [];
}
