import type { AgentConfig } from '../records/agent/agent.ts';
import { keptIn } from '../records/kept-in.ts';
import { matchesText } from './glob-match.ts';
import { parseRule, type Rule, ruleText } from './rule.ts';

/**
 * Permissions of an agent, as data that can be stored (docs/permissions.md).
 * This folder holds rules, the decision about a call, the text of a refusal, and the analysis of paths and shell commands for rules.
 *
 * P1. Within one source, deny beats ask beats allow.
 * P2. The first source with a matching rule decides: `cli` before `config` before `profile` before the declaration of the tool.
 * P3. If no source has one, the declaration of the tool decides; a tool without a declaration asks.
 * P4. A policy is a list of such levels, one for the tree and one for each profile on the path from the root; the strictest decision counts, so a child can
 *     only narrow. If a profile allows some calls of a tool, it asks about the others; for tools of which it allows no call, the levels above decide.
 * P5. A `bash` pattern allows exactly its own text, and plain commands: no operators, redirections, substitutions.
 *     What such a command runs in turn (`timeout 5 …`, `git -c …`) must match too, unless the program is an interpreter.
 * P6. Deny and ask patterns for `bash` are matched against every simple command of a compound, and against the whole text, with whatever arguments
 *     follow. If it cannot be determined what would run, they match.
 * P7. Deny and ask patterns for paths also match everything inside a matching folder, and ignore case; allow patterns do neither.
 * P8. These patterns bind every tool that touches such a path: those of `read` every tool that reads it, those of `write` every tool that writes it.
 */
export interface Policy {
  readonly levels: readonly PolicyLevel[];
}

/** Sources in order of precedence. `unsaid`: ask rules that a profile implies for calls that it does not allow; `mode`: added by `withMode`. */
export const RULE_SOURCES = ['cli', 'config', 'profile', 'unsaid', 'mode'] as const;
export type RuleSource = (typeof RULE_SOURCES)[number];

export interface PolicyLevel extends Readonly<Record<RuleSource, readonly Rule[]>> {
  /** Decision if no rule applies. `tool`: the declaration of the tool; `allow`, in a profile: the levels above decide. */
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

/** Creates the policy of a tree from the rules of the command line, the configuration and the root's own profile. Throws InvalidRuleError. */
export function createPolicy(
  texts: { readonly cli?: RuleTexts; readonly config?: RuleTexts; readonly profile?: RuleTexts } = {},
): Policy {
  const [cli = [], config = [], profile = []] = [texts.cli, texts.config, texts.profile].map(parseRules);
  return { levels: [{ cli, config, profile, unsaid: [], mode: [], default: 'tool' }] };
}

/** Creates the level with which a profile narrows the policy above it. Throws InvalidRuleError. */
export function createProfilePolicy(texts: RuleTexts): Policy {
  const profile = parseRules(texts);
  const unsaid = profile.flatMap(({ verdict, tool }): Rule[] =>
    verdict === 'allow' ? [{ verdict: 'ask', tool }] : [],
  );
  return { levels: [{ cli: [], config: [], profile, unsaid, mode: [], default: 'allow' }] };
}

/** Narrows the parent's policy by the child's: only calls that both allow are allowed (P4). */
export function narrow(parent: Policy, child: Policy): Policy {
  const known = new Set(parent.levels.map((level) => JSON.stringify(level)));
  const added = child.levels.filter((level) => !known.has(JSON.stringify(level)));
  return { levels: [...parent.levels, ...added] };
}

const policies = new WeakMap<AgentConfig, Policy>();

/** The policy of an agent: the rules of its tree, narrowed by the profiles on the path from the root. Cached by configuration. */
export function policyOf(config: AgentConfig): Policy {
  return keptIn(policies, config, () => {
    const { cli, config: configured, granted = [], narrowed = [] } = config.permissions;
    return narrowed
      .map(createProfilePolicy)
      .reduce(narrow, createPolicy({ cli, config: configured, profile: { allow: granted } }));
  });
}

const origin: Readonly<Record<RuleSource, string>> = {
  cli: '',
  config: '',
  profile: ', the profile',
  unsaid: ', beyond what the profile allows',
  mode: ', the mode',
};

/** Formats a rule for people: `deny(bash:rm *), the profile`. */
export function describeRule(rule: Rule, source: RuleSource): string {
  return `${rule.verdict}(${ruleText(rule)})${origin[source]}`;
}

/** Deny and ask rules with a pattern, which apply to some of a tool's calls, formatted for people. */
export function partialRules(policy: Policy, tool: string): readonly string[] {
  const texts = new Set<string>();
  for (const level of policy.levels) {
    for (const source of RULE_SOURCES) {
      const rules = level[source].filter((rule) => matchesText(rule.tool, tool));
      for (const rule of rules)
        if (rule.verdict !== 'allow' && rule.pattern !== undefined) texts.add(describeRule(rule, source));
      // A rule without a pattern matches every call, so later sources never apply.
      if (rules.some((rule) => rule.pattern === undefined)) break;
    }
  }
  return [...texts];
}
