import { runTime } from '../../records/agent/agent.ts';
import type { Limits } from '../../records/agent/limits.ts';
import { isWorking } from '../../records/agent/state.ts';
import { parkedUntil } from '../../records/conversation/parked.ts';
import type { Cell } from './cell.ts';

/**
 * When each agent at work among these must be looked at again whatever comes, milliseconds since the epoch; null: something is to be done for one of
 * them here: work, mail, or what happened and is in no step yet.
 */
export function parkedCells(
  cells: readonly Cell[],
  limits: Limits | undefined,
): ReadonlyMap<string, number> | null {
  const parked = new Map<string, number>();
  for (const { inputs, inbox, agent } of cells) {
    if (inputs.length > 0 || !inbox.isEmpty) return null;
    if (!isWorking(agent.state.type)) continue;
    const until = limits === undefined ? null : parkedUntil(agent.state, runTime(agent.config, limits));
    if (until === null) return null;
    parked.set(agent.id, until);
  }
  return parked;
}
