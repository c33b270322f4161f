import type { AgentConfig } from '../records/agent/agent.ts';
import { matchesText } from './glob-match.ts';
import { parseRule, type Rule, ruleText } from './rule.ts';

/**
 * Permissions: what an agent may do, as data that can be stored (docs/permissions.md).
 * This folder holds rules, the decision about a call, the text of a refusal, and what a path or a shell command comes to for a rule.
 *
 * P1. Within one source, deny beats ask beats allow.
 * P2. The first source with a rule that matches decides: `cli` before `config` before `profile` before what the tool declares.
 * P3. If no source has one, what the tool declares decides; a tool that declares nothing is asked about.
 * P4. A policy is a list of such decisions, one for the tree and one for each profile on the way down; the strictest counts, so a child can only narrow.
 *     If a profile allows some calls of a tool, it asks about the others; for tools of which it allows nothing, the levels above decide.
 * P5. A `bash` pattern allows exactly its own text, and plain commands: no operators, redirections, substitutions.
 *     What such a command runs in turn (`timeout 5 …`, `git -c …`) must match too, unless the program is an interpreter.
 * P6. Deny and ask patterns for `bash` check every simple command of a compound, and the whole text. If
 *     the text does not tell what would run, the call is denied or asked about.
 * P7. Deny and ask patterns for paths also cover what is inside a matching folder, and ignore case; allow patterns do not.
 * P8. They bind every tool that touches such a path: those of `read` whatever reads it, those of `write` whatever writes it.
 */
export interface Policy {
  readonly levels: readonly PolicyLevel[];
}

/** In the order in which they are asked. `unsaid`: what a profile implies by what it does not allow; `mode`: what `withMode` adds. */
export const RULE_SOURCES = ['cli', 'config', 'profile', 'unsaid', 'mode'] as const;
export type RuleSource = (typeof RULE_SOURCES)[number];

export interface PolicyLevel extends Readonly<Record<RuleSource, readonly Rule[]>> {
  /** What holds where no rule applies: what the tool declares, or, in a profile, whatever the levels above decide. */
  readonly default: 'tool' | 'allow';
}

export interface RuleTexts {
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
}

function parseRules(texts: RuleTexts | undefined): Rule[] {
  const verdicts = ['deny', 'ask', 'allow'] as const;
  return verdicts.flatMap((verdict) => (texts?.[verdict] ?? []).map((text) => parseRule(text, verdict)));
}

/** A policy from what the command line, the configuration and the root's own profile say. Throws InvalidRuleError. */
export function createPolicy(
  texts: { readonly cli?: RuleTexts; readonly config?: RuleTexts; readonly profile?: RuleTexts } = {},
): Policy {
  const [cli = [], config = [], profile = []] = [texts.cli, texts.config, texts.profile].map(parseRules);
  return { levels: [{ cli, config, profile, unsaid: [], mode: [], default: 'tool' }] };
}

/** What a profile leaves of the policy above it. Throws InvalidRuleError. */
export function createProfilePolicy(texts: RuleTexts): Policy {
  const profile = parseRules(texts);
  const unsaid = profile.flatMap(({ verdict, tool }): Rule[] =>
    verdict === 'allow' ? [{ verdict: 'ask', tool }] : [],
  );
  return { levels: [{ cli: [], config: [], profile, unsaid, mode: [], default: 'allow' }] };
}

/** The child's policy under its parent's: allowed is only what both allow (P4). */
export function narrow(parent: Policy, child: Policy): Policy {
  const known = new Set(parent.levels.map((level) => JSON.stringify(level)));
  const added = child.levels.filter((level) => !known.has(JSON.stringify(level)));
  return { levels: [...parent.levels, ...added] };
}

const policies = new WeakMap<AgentConfig, Policy>();

/** What an agent may do: its tree's rules, and what the profiles on the way down to it leave of them. */
export function policyOf(config: AgentConfig): Policy {
  let policy = policies.get(config);
  if (policy === undefined) {
    const { cli, config: configured, granted = [], narrowed = [] } = config.permissions;
    policy = createPolicy({ cli, config: configured, profile: { allow: granted } });
    for (const rules of narrowed) policy = narrow(policy, createProfilePolicy(rules));
    policies.set(config, policy);
  }
  return policy;
}

const origin: Readonly<Record<RuleSource, string>> = {
  cli: '',
  config: '',
  profile: ', the profile',
  unsaid: ', beyond what the profile allows',
  mode: ', the mode',
};

/** A rule as people read it: `deny(bash:rm *), the profile`. */
export function describeRule(rule: Rule, source: RuleSource): string {
  return `${rule.verdict}(${ruleText(rule)})${origin[source]}`;
}

/** The deny and ask rules with a pattern that apply to some of a tool's calls, as people read them. */
export function partialRules(policy: Policy, tool: string): readonly string[] {
  const texts = new Set<string>();
  for (const level of policy.levels) {
    for (const source of RULE_SOURCES) {
      const rules = level[source].filter((rule) => matchesText(rule.tool, tool));
      for (const rule of rules)
        if (rule.verdict !== 'allow' && rule.pattern !== undefined) texts.add(describeRule(rule, source));
      // This source has decided; what the next one says does not count.
      if (rules.some((rule) => rule.pattern === undefined)) break;
    }
  }
  return [...texts];
}
