import { isSubAgent } from '../../../records/agent/agent.ts';
import type { Decision, ToolsetView } from '../toolset.ts';
import { refuse } from './agent-reference.ts';

/** A sub-agent with one task creates no others (seeds 3 and 4); null when the caller is none. */
export function noNesting(view: ToolsetView): Decision | null {
  if (!isSubAgent(view.self.config)) return null;
  return refuse('NESTING_FORBIDDEN', 'a sub-agent creates no agents of its own: do the work yourself.');
}
