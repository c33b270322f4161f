import type { Refusal, Step } from '../step.ts';
import type { AgentFacts, TreeFacts } from './facts.ts';
import type { UnitOfWork } from './unit-of-work.ts';

type LimitName = Extract<Refusal, { reason: 'limit' }>['limit'];

/** The limit of the tree or the agent that the step's new agents would exceed (law 7, docs/ledger.md). Every path that creates an agent passes here. */
export function exceededLimit(unit: UnitOfWork, step: Step, agent: AgentFacts): Refusal | null {
  const created = step.create.length;
  if (created === 0) return null;
  const tree = unit.tree(agent.root_id) as TreeFacts;
  const { root_id, live, total } = tree;
  const limits = unit.limits(tree);
  const check = (limit: LimitName, present: number, wanted = created): Refusal | null =>
    present + wanted > limits[limit] ? { reason: 'limit', limit, allowed: limits[limit], present } : null;
  // Agents at rest do not count (law 7); they are looked up only when the limit seems to be reached.
  const checkBusy = (limit: 'children' | 'live', living: number, resting: () => number) =>
    check(limit, living) && check(limit, living - resting());
  return (
    check('depth', agent.depth, 1) ??
    checkBusy('children', agent.living_children, () => unit.restingChildren(agent.id)) ??
    checkBusy('live', live, () => unit.restingInTree(root_id)) ??
    check('total', total)
  );
}
