import type { Check } from './walk.ts';

/** A nested schema. `same`: the nested schemas that apply to the same value. */
export interface SchemaNode {
  readonly checks: Check[];
  readonly same: SchemaNode[];
}

/** Detects a schema that refers to itself without descending into the value, which would never terminate. */
export function refuseCircles(nodes: readonly SchemaNode[]): void {
  const inward = new Map<SchemaNode, number>();
  for (const one of nodes.flatMap((node) => node.same)) inward.set(one, (inward.get(one) ?? 0) + 1);
  const free = nodes.filter((node) => !inward.has(node));
  for (let node = free.pop(); node !== undefined; node = free.pop()) {
    for (const next of node.same) {
      const left = (inward.get(next) ?? 0) - 1;
      inward.set(next, left);
      if (left === 0) free.push(next);
    }
  }
  if ([...inward.values()].some((left) => left > 0))
    throw new Error('it refers to itself without going deeper into the value, so a check would never end');
}
