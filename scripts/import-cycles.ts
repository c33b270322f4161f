/**
 * Returns the shortest import cycle of each group of files that import each other, as a path that ends where it begins. Each file is
 * reported in one cycle at most.
 */
export function importCycles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const told = new Set<string>();
  const cycles: string[][] = [];
  for (const file of graph.keys()) {
    if (told.has(file)) continue;
    const cycle = shortestCycle(graph, file);
    if (cycle === null || cycle.some((one) => told.has(one))) continue;
    cycles.push(cycle);
    for (const one of cycle) told.add(one);
  }
  return cycles;
}

/** Breadth-first search from `start` until an import leads back to it. */
function shortestCycle(graph: ReadonlyMap<string, readonly string[]>, start: string): string[] | null {
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (const file of queue) {
    for (const next of graph.get(file) ?? []) {
      if (next === start) return [...pathTo(cameFrom, file), start];
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, file);
      queue.push(next);
    }
  }
  return null;
}

function pathTo(cameFrom: ReadonlyMap<string, string>, end: string): string[] {
  const path = [end];
  for (let file = cameFrom.get(end); file !== undefined; file = cameFrom.get(file)) path.unshift(file);
  return path;
}

type Import = readonly [from: string, to: string];

/** For each pair of sibling folders that import each other, one import in each direction. Top-level folders are left out: they have floors. */
export function mutualFolders(imports: readonly Import[]): (readonly [Import, Import])[] {
  const first = new Map<string, Import>();
  for (const one of imports) {
    const [from, to] = one.map((place) => place.split('/').slice(0, -1)) as [string[], string[]];
    const depth = from.findIndex((name, at) => name !== to[at]);
    if (depth < 1 || to[depth] === undefined) continue;
    const key = [from, to].map((path) => path.slice(0, depth + 1).join('/')).join(' ');
    first.set(key, first.get(key) ?? one);
  }
  return [...first].flatMap(([key, there]) => {
    const [from = '', to = ''] = key.split(' ');
    const back = first.get(`${to} ${from}`);
    return back === undefined || from > to ? [] : [[there, back] as const];
  });
}
