/** An agent that is waited for, and when the wait times out, milliseconds since the epoch; null: never. */
export interface WaitEdge {
  readonly target: string;
  readonly until: number | null;
}

/**
 * Law 10: returns the cycle that a new edge of `waiter` would close, if all edges of the cycle last at least as long as the new one: the ids along it,
 * starting and ending with the waiter. Null if there is none.
 */
export function findWaitCycle(
  waiter: string,
  edge: WaitEdge,
  edgesOf: (id: string) => readonly WaitEdge[],
): readonly string[] | null {
  const cameFrom = new Map([[edge.target, waiter]]);
  const open = [edge.target];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (id === waiter) return pathTo(waiter, cameFrom);
    for (const next of edgesOf(id)) {
      if (cameFrom.has(next.target) || !lastsAsLong(next, edge)) continue;
      cameFrom.set(next.target, id);
      open.push(next.target);
    }
  }
  return null;
}

function lastsAsLong(one: WaitEdge, other: WaitEdge): boolean {
  return one.until === null || (other.until !== null && one.until >= other.until);
}

function pathTo(waiter: string, cameFrom: ReadonlyMap<string, string>): readonly string[] {
  const path = [waiter];
  for (let at = cameFrom.get(waiter); at !== undefined && at !== waiter; at = cameFrom.get(at)) path.push(at);
  return [...path, waiter].reverse();
}
