import type { Executing } from '../../records/agent/state.ts';

/** Ids of spawned children that have not reported yet, in the order of their creation. */
export function outstanding(state: Pick<Executing, 'spawned' | 'early'>): string[] {
  const reported = new Set(state.early.map((result) => result.agent_id));
  return state.spawned.flatMap(({ agent_id }) => (reported.has(agent_id) ? [] : [agent_id]));
}
