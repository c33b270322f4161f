import type { ToolPermission } from '../records/tool.ts';
import { decide } from './decide.ts';
import { type Policy, partialRules } from './policy.ts';
import type { TouchedPath } from './touched-paths.ts';

/** What a model reads when its call is denied; null when the policy allows it. In a headless run nobody can be asked: what would ask is denied. */
export function policyRefusal(
  policy: Policy,
  tool: ToolPermission,
  subject: string,
  touched?: readonly TouchedPath[],
): string | null {
  const { verdict, rule } = decide(policy, tool, subject, touched);
  if (verdict === 'allow') return null;
  if (verdict === 'deny') return `${tool.name} was denied by the rule ${rule}. Do not try to get around it.`;
  const way_out = isByProfile(policy, tool, subject)
    ? 'Its profile would have to allow it.'
    : `A person can allow it with --allow ${tool.name} or --yes.`;
  return `${tool.name} needs approval (${rule}) and nobody can give it in this run. ${way_out}`;
}

/** The first level is the tree's, which the command line decides; the others are profiles'. */
function isByProfile({ levels }: Policy, tool: ToolPermission, subject: string): boolean {
  return levels.length > 1 && decide({ levels: levels.slice(1) }, tool, subject).verdict !== 'allow';
}

/**
 * The same for a use without a subject, so that no pattern can be checked: if a rule that applies forbids some of it, all of it is
 * refused; patterns that allow some of it allow nothing.
 */
export function blindRefusal(policy: Policy, tool: ToolPermission): string | null {
  const [rule] = [tool.name, ...tool.bound_by].flatMap((one) => partialRules(policy, one));
  if (rule !== undefined)
    return `${tool.name} was not allowed: the program does not say what it is about, and there is a rule for some of it: ${rule}`;
  return policyRefusal(policy, tool, '');
}
