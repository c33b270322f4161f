/**
 * Law 10: would the edges `waiter → targets` close a cycle? Returns the ids along it, beginning and ending with the waiter, or
 * null. `targetsOf` gives the agents that one waits for; those that wait for nobody cost one look each.
 */
export function findWaitCycle(
  waiter: string,
  targets: readonly string[],
  targetsOf: (id: string) => readonly string[],
): readonly string[] | null {
  const cameFrom = new Map<string, string>();
  const open: string[] = [];
  const visit = (id: string, from: string): void => {
    if (cameFrom.has(id)) return;
    cameFrom.set(id, from);
    open.push(id);
  };
  for (const target of targets) visit(target, waiter);
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (id === waiter) return pathTo(waiter, cameFrom);
    for (const target of targetsOf(id)) visit(target, id);
  }
  return null;
}

function pathTo(waiter: string, cameFrom: ReadonlyMap<string, string>): readonly string[] {
  const path = [waiter];
  for (let at = cameFrom.get(waiter); at !== undefined && at !== waiter; at = cameFrom.get(at)) path.push(at);
  return [...path, waiter].reverse();
}
