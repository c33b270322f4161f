import { decide, type Policy } from './permission-policy.ts';
import type { TouchedPath } from './touched-paths.ts';

/** Null when the policy allows this use. Nobody is there to be asked in a headless run: what would ask is denied, loudly. */
export function policyRefusal(
  policy: Policy,
  tool: string,
  subject: string,
  touched?: readonly TouchedPath[],
): string | null {
  const { verdict, rule } = decide(policy, tool, subject, touched);
  if (verdict === 'allow') return null;
  if (verdict === 'deny') return `${tool} was denied by the rule ${rule}. Do not try to get around it.`;
  const way_out = isByProfile(policy, tool, subject)
    ? 'Its profile would have to allow it.'
    : `A person can allow it with --allow ${tool} or --yes.`;
  return `${tool} needs approval (${rule}) and nobody can give it in this run. ${way_out}`;
}

/** The first level is the tree's, which the command line decides; the others are profiles'. */
function isByProfile({ levels }: Policy, tool: string, subject: string): boolean {
  return levels.length > 1 && decide({ levels: levels.slice(1) }, tool, subject).verdict !== 'allow';
}
