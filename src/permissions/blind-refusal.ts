import { type Policy, partialRules } from './permission-policy.ts';
import { policyRefusal } from './policy-refusal.ts';
import { boundBy } from './touched-paths.ts';

/**
 * The word on a use of which nobody says what it is about, so that no pattern can be checked. Where a source with a say in the
 * matter forbids some of it, all of it is refused; patterns that allow some of it allow nothing.
 */
export function blindRefusal(policy: Policy, tool: string): string | null {
  const [rule] = [tool, ...boundBy(tool)].flatMap((one) => partialRules(policy, one));
  if (rule !== undefined)
    return `${tool} was not allowed: the program does not say what it is about, and there is a rule for some of it: ${rule}`;
  return policyRefusal(policy, tool, '');
}
