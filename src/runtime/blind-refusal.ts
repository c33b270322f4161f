import { matchesText } from '../tools/glob-match.ts';
import type { Policy } from '../tools/permission-policy.ts';
import { policyRefusal } from './policy-refusal.ts';

/**
 * The word on a use of which nobody says what it is about, so that no pattern can be checked. Where a source with a say in the
 * matter forbids some of it, all of it is refused; patterns that allow some of it allow nothing.
 */
export function blindRefusal(policy: Policy, tool: string): string | null {
  for (const level of policy.levels) {
    for (const source of ['cli', 'config', 'profile'] as const) {
      const rules = level[source].filter((rule) => matchesText(rule.tool, tool));
      const narrow = rules.find((rule) => rule.verdict !== 'allow' && rule.pattern !== undefined);
      if (narrow !== undefined)
        return `${tool} was not allowed: the program does not say what it is about, and there is a rule for some of it (${tool}:${narrow.pattern})`;
      // This source has decided; what the next one says does not count.
      if (rules.some((rule) => rule.pattern === undefined)) break;
    }
  }
  return policyRefusal(policy, tool, '');
}
