/** An agent that is waited for, and when that ends by itself, milliseconds since the epoch; null: never. */
export interface WaitEdge {
  readonly target: string;
  readonly until: number | null;
}

/**
 * Law 10: would this edge of `waiter` close a cycle in which nobody can go on before it ends? Returns the ids along it, beginning and ending with the
 * waiter, or null. `edgesOf` gives whom one waits for; those that wait for nobody cost one look each.
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
