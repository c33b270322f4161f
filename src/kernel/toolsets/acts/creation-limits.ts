import { isSubAgent } from '../../../records/agent/agent.ts';
import { namedLimit } from '../../../records/agent/limits.ts';
import type { Decision, ToolsetView } from '../toolset.ts';
import { refuse } from './agent-reference.ts';

/** The limit that `wanted` more children would exceed, as a sentence for the model; null if none (law 7). */
export function exceededCreationLimit(view: ToolsetView, wanted = 1): string | null {
  const { limits, live, total } = view.tree;
  const over = (limit: string, allowed: number, present: number, advice: string): string => {
    const more = wanted === 1 ? '' : ` and ${wanted} more were asked for; none was created`;
    const help = present < allowed ? `Ask for at most ${allowed - present} at once.` : advice;
    const text = `limit "${limit}" reached: ${present} of ${allowed}${more}. ${help}`;
    return `${text} A person can raise it (--limit ${namedLimit(text)?.raised})`;
  };
  if (view.self.depth + 1 > limits.depth)
    return over(
      'depth',
      limits.depth,
      view.self.depth,
      'Agents at this depth cannot create others: do the work yourself.',
    );
  // Resting agents do not count. They are subtracted only if the limit seems reached, because counting them is O(n).
  for (const [limit, living, among, who] of [
    ['children', view.living_children, 'children', 'children'],
    ['live', live, 'tree', 'agents'],
  ] as const) {
    const busy = living + wanted > limits[limit] ? living - view.resting(among) : 0;
    if (busy + wanted > limits[limit])
      return over(limit, limits[limit], busy, `Wait until ${who} have ended their turns, or kill some.`);
  }
  const counted = total + wanted > limits.total ? total - view.scripted() : 0;
  if (counted + wanted > limits.total)
    return over(
      'total',
      limits.total,
      counted,
      'No more agents can be created in this tree: send more work to one that rests.',
    );
  return null;
}

/** Refuses a sub-agent with a single task, which cannot create agents; null for other callers. */
export function noNesting(view: ToolsetView): Decision | null {
  if (!isSubAgent(view.self.config)) return null;
  return refuse('NESTING_FORBIDDEN', 'a sub-agent cannot create agents: do the work yourself.');
}
