import type { ToolPermission } from '../records/tool.ts';
import { askingRules, decide } from './decide.ts';
import { type Policy, type PolicyLevel, partialRules, RULE_SOURCES } from './policy.ts';
import { toolPermission } from './tool-permission.ts';
import type { TouchedPath } from './touched-paths.ts';

/** Message to the model if its call is denied; null if the policy allows it. For runs where nobody can be asked, so that `ask` denies too. */
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

/** Whether a profile withholds the call. The first level is the tree's, which the command line can change; the others are profiles. */
function isByProfile({ levels }: Policy, tool: ToolPermission, subject: string): boolean {
  return levels.length > 1 && decide({ levels: levels.slice(1) }, tool, subject).verdict !== 'allow';
}

/**
 * As `policyRefusal`, for a call without a subject, so that patterns cannot be checked. It is refused if any deny or ask pattern could
 * apply; allow patterns do not count.
 */
export function blindRefusal(policy: Policy, tool: ToolPermission): string | null {
  const [rule] = [tool.name, ...tool.bound_by].flatMap((one) => partialRules(policy, one));
  if (rule !== undefined)
    return `${tool.name} was not allowed: the program does not say what the call is about, and a rule restricts some such calls: ${rule}`;
  return policyRefusal(policy, tool, '');
}

/** Ruling on calls that create agents. */
export type CreationRuling =
  | { readonly type: 'deny'; readonly why: string }
  /** `why`: message to the model where nobody can be asked. */
  | { readonly type: 'ask'; readonly rules: readonly string[]; readonly why: string };

/** Returns null if the tool may create agents. Only rules that name the tool can ask or deny; `*` applies to tools that act on the world. */
export function creationRuling({ levels }: Policy, name: string): CreationRuling | null {
  const isStrict = (level: PolicyLevel) =>
    RULE_SOURCES.some((source) =>
      level[source].some(({ verdict, tool }) => verdict !== 'allow' && tool === name),
    );
  if (!levels.some(isStrict)) return null;
  const about = levels.map((level): PolicyLevel => {
    const rules = RULE_SOURCES.map((source) => [
      source,
      level[source].filter(({ verdict, tool }) => verdict === 'allow' || tool === name),
    ]);
    return { ...level, ...(Object.fromEntries(rules) as Pick<PolicyLevel, (typeof RULE_SOURCES)[number]>) };
  });
  const policy = { levels: about };
  const tool = toolPermission(name, { default: 'allow', subject: 'agents' });
  const why = policyRefusal(policy, tool, '');
  if (why === null) return null;
  return decide(policy, tool, '').verdict === 'deny'
    ? { type: 'deny', why }
    : { type: 'ask', why, rules: askingRules(policy, tool, '') };
}
