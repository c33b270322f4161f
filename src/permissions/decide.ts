import type { ToolPermission, Verdict } from '../records/tool.ts';
import { CommandMatch } from './command-match.ts';
import { matchesPath, matchesText, matchesUrl, matchesWithin } from './glob-match.ts';
import { describeRule, type Policy, type PolicyLevel, RULE_SOURCES } from './policy.ts';
import { type Rule, ruleText } from './rule.ts';
import { scriptName, takesPath } from './tool-permission.ts';
import { type TouchedPath, touchesOf } from './touched-paths.ts';

/** Decision of a policy about one call. */
export interface Decision {
  readonly verdict: Verdict;
  /** For people: `deny(bash:rm *)`, `ask(bash), the default`. */
  readonly rule: string;
}

const strictness: Readonly<Record<Verdict, number>> = { allow: 0, ask: 1, deny: 2 };

/** Whether a rule matches a call. `unseen`: it may match; the text says which part of the command cannot be analysed. */
type Match = 'yes' | 'no' | { readonly unseen: string };

function matchCommand(rule: Rule, pattern: string, command: CommandMatch): Match {
  if (rule.verdict === 'allow') return command.isAllowed(pattern) ? 'yes' : 'no';
  const caught = command.isCaught(pattern);
  if (caught === undefined) return 'no';
  return caught.unseen === null ? 'yes' : { unseen: caught.unseen };
}

function matchPath(rule: Rule, pattern: string, path: string): Match {
  if (rule.verdict === 'allow') return matchesPath(pattern, path) ? 'yes' : 'no';
  // Compares as a case-insensitive file system does, and also matches files inside a matching folder.
  return matchesWithin(fold(pattern.replace(/\/+$/, '')), fold(path)) ? 'yes' : 'no';
}

/** Both steps are needed: some letters have the same capital only (`s` and `ſ`, `σ` and `ς`), and `ẞ` has `ß` as its small letter only. */
function fold(text: string): string {
  return text.normalize('NFC').toLowerCase().toUpperCase();
}

export interface PermissionCall {
  readonly tool: Pick<ToolPermission, 'name' | 'subject'>;
  readonly subject: string;
  readonly command: CommandMatch;
}

export function matchRule(rule: Rule, { tool, subject, command }: PermissionCall): Match {
  if (!matchesText(rule.tool, tool.name)) return 'no';
  if (rule.pattern === undefined) return 'yes';
  if (tool.subject === 'command') return matchCommand(rule, rule.pattern, command);
  if (takesPath(tool)) return matchPath(rule, rule.pattern, subject);
  if (tool.subject === 'url') return matchesUrl(rule.pattern, subject, rule.verdict) ? 'yes' : 'no';
  if (tool.subject === 'script' && matchesText(rule.pattern, scriptName(subject))) return 'yes';
  return matchesText(rule.pattern, subject) ? 'yes' : 'no';
}

function stricter(one: Decision | undefined, other: Decision): Decision {
  return one !== undefined && strictness[one.verdict] >= strictness[other.verdict] ? one : other;
}

/** Decisions of all matching rules in the first source that has any; otherwise the default of the level. */
function decideLevel(
  level: PolicyLevel,
  call: PermissionCall & { readonly tool: ToolPermission },
): readonly Decision[] {
  for (const source of RULE_SOURCES) {
    const found: Decision[] = [];
    for (const rule of level[source]) {
      const matched = matchRule(rule, call);
      if (matched === 'no') continue;
      const said = describeRule(rule, source);
      const why = matched === 'yes' ? said : said + unclear('what the command runs', matched.unseen);
      found.push({ verdict: rule.verdict, rule: why });
    }
    if (found.length > 0) return found;
  }
  return [level.default === 'allow' ? { verdict: 'allow', rule: 'allow(*)' } : byDefault(call)];
}

function byDefault({ tool, subject }: { readonly tool: ToolPermission; readonly subject: string }): Decision {
  const pattern = tool.allowed.find((one) => matchesText(one, subject));
  const rule: Rule =
    pattern === undefined
      ? { verdict: tool.default, tool: tool.name }
      : { verdict: 'allow', tool: tool.name, pattern };
  return { verdict: rule.verdict, rule: `${rule.verdict}(${ruleText(rule)}), the default` };
}

/** Deny and ask decisions of path rules about a touched path, from the first source with a matching rule. */
function decideTouched(level: PolicyLevel, { path, as, why, searched }: TouchedPath): readonly Decision[] {
  for (const source of RULE_SOURCES) {
    const rules = level[source].filter(
      (rule) =>
        matchesText(rule.tool, as) && (rule.pattern === undefined || mayMatchPath(rule, rule.pattern, path)),
    );
    if (rules.length === 0) continue;
    const found: Decision[] = [];
    for (const rule of rules) {
      // A rule without a pattern is about the tool, not about paths; but one that a profile implies (`unsaid`) covers all other paths.
      const about_paths = rule.pattern !== undefined || (source === 'unsaid' && searched !== true);
      if (rule.verdict !== 'allow' && about_paths)
        found.push({
          verdict: rule.verdict,
          rule:
            describeRule(rule, source) +
            (why === undefined ? '' : unclear('which files the command touches', why)),
        });
    }
    return found;
  }
  return [];
}

/** Whether a rule may match. For an unknown path (null), deny and ask rules are assumed to match and allow rules are not. */
function mayMatchPath(rule: Rule, pattern: string, path: string | null): boolean {
  return path === null ? rule.verdict !== 'allow' : matchPath(rule, pattern, path) === 'yes';
}

function unclear(what: string, why: string): string {
  return `, because it is unclear ${what} (${why}): write it as plain commands`;
}

/** The strictest decision of path rules; undefined if none applies. */
export function decidePaths(policy: Policy, touched: readonly TouchedPath[]): Decision | undefined {
  return strictestOf(touchedDecisions(policy, touched));
}

function touchedDecisions({ levels }: Policy, touched: readonly TouchedPath[]): readonly Decision[] {
  return levels.flatMap((level) => touched.flatMap((one) => decideTouched(level, one)));
}

function strictestOf(found: readonly Decision[]): Decision | undefined {
  return found.reduce<Decision | undefined>(stricter, undefined);
}

/**
 * Decides about a call. `subject` is the command, the canonical path relative to the agent's folder, or the text of `Tool.subject`
 * (see `permissionSubject`); `touched` are the paths that the call touches. Pure and total.
 */
export function decide(...of: Parameters<typeof decisions>): Decision {
  return strictestOf(decisions(...of)) ?? byDefault({ tool: of[1], subject: of[2] });
}

/** All rules that ask about the call, without duplicates. */
export function askingRules(...of: Parameters<typeof decisions>): readonly string[] {
  return [...new Set(decisions(...of).flatMap(({ verdict, rule }) => (verdict === 'ask' ? [rule] : [])))];
}

function decisions(
  policy: Policy,
  tool: ToolPermission,
  subject: string,
  touched: readonly TouchedPath[] = takesPath(tool) ? touchesOf(tool, subject) : [],
): readonly Decision[] {
  const call = { tool, subject, command: new CommandMatch(tool.subject === 'command' ? subject : '') };
  return [
    ...touchedDecisions(policy, touched),
    ...policy.levels.flatMap((level) => decideLevel(level, call)),
  ];
}
