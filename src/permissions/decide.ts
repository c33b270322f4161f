import type { ToolPermission, Verdict } from '../records/tool.ts';
import { CommandMatch } from './command-match.ts';
import { matchesPath, matchesText } from './glob-match.ts';
import { describeRule, type Policy, type PolicyLevel, RULE_SOURCES } from './policy.ts';
import { type Rule, ruleText } from './rule.ts';
import { takesPath } from './tool-permission.ts';
import { type TouchedPath, touchesOf } from './touched-paths.ts';

/** What a policy says of one call. */
export interface Decision {
  readonly verdict: Verdict;
  /** For people: `deny(bash:rm *)`, `ask(bash), the default`. */
  readonly rule: string;
}

const strictness: Readonly<Record<Verdict, number>> = { allow: 0, ask: 1, deny: 2 };

/** Whether a rule matches a call; `unseen`: it may, because the command does not tell what it runs. */
type Match = 'yes' | 'no' | { readonly unseen: string };

function matchCommand(rule: Rule, pattern: string, command: CommandMatch): Match {
  if (rule.verdict === 'allow') return command.isAllowed(pattern) ? 'yes' : 'no';
  const caught = command.isCaught(pattern);
  if (caught === undefined) return 'no';
  return caught.unseen === null ? 'yes' : { unseen: caught.unseen };
}

function matchPath(rule: Rule, pattern: string, path: string): Match {
  if (rule.verdict === 'allow') return matchesPath(pattern, path) ? 'yes' : 'no';
  // Like a case-insensitive file system.
  const [folded, parts] = [fold(pattern), fold(path).split('/')];
  const within = parts.some((_, at) => matchesPath(folded, parts.slice(0, at + 1).join('/')));
  return within ? 'yes' : 'no';
}

function fold(text: string): string {
  return text.normalize('NFC').toLowerCase();
}

interface PermissionCall {
  readonly tool: ToolPermission;
  readonly subject: string;
  readonly command: CommandMatch;
}

function match(rule: Rule, { tool, subject, command }: PermissionCall): Match {
  if (!matchesText(rule.tool, tool.name)) return 'no';
  if (rule.pattern === undefined) return 'yes';
  if (tool.subject === 'command') return matchCommand(rule, rule.pattern, command);
  if (takesPath(tool)) return matchPath(rule, rule.pattern, subject);
  return matchesText(rule.pattern, subject) ? 'yes' : 'no';
}

function stricter(one: Decision | undefined, other: Decision): Decision {
  return one !== undefined && strictness[one.verdict] >= strictness[other.verdict] ? one : other;
}

function decideLevel(level: PolicyLevel, call: PermissionCall): Decision {
  for (const source of RULE_SOURCES) {
    let found: Decision | undefined;
    for (const rule of level[source]) {
      const matched = match(rule, call);
      if (matched === 'no') continue;
      const said = describeRule(rule, source);
      const why =
        matched === 'yes'
          ? said
          : `${said}, for it cannot be seen what the command runs (${matched.unseen}): write it as plain commands`;
      found = stricter(found, { verdict: rule.verdict, rule: why });
    }
    if (found !== undefined) return found;
  }
  return level.default === 'allow' ? { verdict: 'allow', rule: 'allow(*)' } : byDefault(call);
}

function byDefault({ tool, subject }: PermissionCall): Decision {
  const pattern = tool.allowed.find((one) => matchesText(one, subject));
  const rule: Rule =
    pattern === undefined
      ? { verdict: tool.default, tool: tool.name }
      : { verdict: 'allow', tool: tool.name, pattern };
  return { verdict: rule.verdict, rule: `${rule.verdict}(${ruleText(rule)}), the default` };
}

/** What the rules about paths say of one that is touched: deny or ask, by the first source with a rule that matches. */
function decideTouched(level: PolicyLevel, { path, as, searched }: TouchedPath): Decision | undefined {
  for (const source of RULE_SOURCES) {
    const rules = level[source].filter(
      (rule) =>
        matchesText(rule.tool, as) && (rule.pattern === undefined || mayMatchPath(rule, rule.pattern, path)),
    );
    if (rules.length === 0) continue;
    let found: Decision | undefined;
    for (const rule of rules) {
      // A rule without a pattern is about the tool; but what a profile implies (`unsaid`) covers the rest of the paths.
      const about_paths = rule.pattern !== undefined || (source === 'unsaid' && searched !== true);
      if (rule.verdict !== 'allow' && about_paths)
        found = stricter(found, {
          verdict: rule.verdict,
          rule: whyTouched(describeRule(rule, source), path),
        });
    }
    return found;
  }
  return undefined;
}

/** Any path at all may be one that is denied or asked about, and need not be one that is allowed. */
function mayMatchPath(rule: Rule, pattern: string, path: string | null): boolean {
  return path === null ? rule.verdict !== 'allow' : matchPath(rule, pattern, path) === 'yes';
}

function whyTouched(rule: string, path: string | null): string {
  return path === null
    ? `${rule}, for the command is too long to tell which files it touches: split it`
    : rule;
}

/** The strictest decision of rules about paths; undefined when none applies. */
export function decidePaths(policy: Policy, touched: readonly TouchedPath[]): Decision | undefined {
  let strictest: Decision | undefined;
  for (const level of policy.levels)
    for (const one of touched) {
      const found = decideTouched(level, one);
      if (found !== undefined) strictest = stricter(strictest, found);
    }
  return strictest;
}

/**
 * What happens to a call. `subject` is the command, the canonical path relative to the agent's folder, or the text of `Tool.subject`
 * (see `permissionSubject`); `touched` are the paths that it touches. Pure and total.
 */
export function decide(
  policy: Policy,
  tool: ToolPermission,
  subject: string,
  touched: readonly TouchedPath[] = takesPath(tool) ? touchesOf(tool, subject) : [],
): Decision {
  let strictest = decidePaths(policy, touched);
  const call = { tool, subject, command: new CommandMatch(tool.subject === 'command' ? subject : '') };
  for (const level of policy.levels) strictest = stricter(strictest, decideLevel(level, call));
  return strictest ?? byDefault(call);
}
