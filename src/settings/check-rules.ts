import { InvalidRuleError, parseKnownRule } from '../permissions/rule.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import type { ToolPermission, Verdict } from '../records/tool.ts';

type Rules = { readonly [Each in Verdict]?: readonly string[] | undefined };

/** Throws `E_CONFIG` for a rule that is malformed or about an unknown tool. */
export function checkRules(
  rules: Rules | undefined,
  tools: readonly ToolPermission[],
  where: (verdict: Verdict) => string,
): void {
  for (const verdict of ['allow', 'ask', 'deny'] as const)
    for (const rule of rules?.[verdict] ?? [])
      try {
        parseKnownRule(rule, verdict, tools);
      } catch (error) {
        if (!(error instanceof InvalidRuleError)) throw error;
        throw new CoppiceError('E_CONFIG', `${where(verdict)}: ${error.message}`, { cause: error });
      }
}
