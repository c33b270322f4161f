import type { ToolPermission } from '../records/tool.ts';
import { askingRules, decide } from './decide.ts';
import { type Policy, type PolicyLevel, partialRules, RULE_SOURCES } from './policy.ts';
import { toolPermission } from './tool-permission.ts';
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

/** What rules say of calls that create agents. */
export type CreationRuling =
  | { readonly type: 'deny'; readonly why: string }
  /** `why`: what the model reads where nobody can be asked. */
  | { readonly type: 'ask'; readonly rules: readonly string[]; readonly why: string };

/** Null: the tool may create agents. Only rules that name it ask or deny: `*` is about tools that act on the world. */
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
