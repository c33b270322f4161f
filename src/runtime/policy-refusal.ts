import { decide, type Policy } from '../tools/permission-policy.ts';

/** Null when the policy allows this use. Nobody is there to be asked in a headless run: what would ask is denied, loudly. */
export function policyRefusal(policy: Policy, tool: string, subject: string): string | null {
  const { verdict, rule } = decide(policy, tool, subject);
  if (verdict === 'allow') return null;
  if (verdict === 'deny') return `${tool} was denied by the rule ${rule}. Do not try to get around it.`;
  return `${tool} needs approval (${rule}) and nobody can give it in this run. A person can allow it with --allow ${tool} or --yes.`;
}
