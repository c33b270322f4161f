import { outstanding } from './outstanding.ts';
import type { AgentState } from './state.ts';

/** Wait-for edges (law 10): the agents that this one cannot go on without. */
export function waitEdges(state: AgentState): readonly string[] {
  if (state.type === 'executing') {
    const waits = state.running.flatMap(({ wait, child }) =>
      child === undefined ? (wait?.from ?? []) : [child],
    );
    // A child that reported already has ended; nobody waits for it any more.
    return [...new Set([...waits, ...outstanding(state)])];
  }
  if (state.type === 'waiting') return state.wait.from ?? [];
  return state.type === 'awaiting' || state.type === 'cancelling' ? state.pending : [];
}
