import { CommandMatch } from './command-match.ts';
import { matchesPath, matchesText } from './glob-match.ts';
import { parseRule, pathTools, type Rule, ruleText, type Verdict } from './permission-rule.ts';
import { type TouchedPath, touchesOf } from './touched-paths.ts';

/**
 * Who may do what, as data that can be stored.
 *
 * P1. Within one source, deny beats ask beats allow.
 * P2. A source that says something about a call ends the matter: `cli` before `config` before `profile` before `default`.
 * P3. Nobody said anything: ask.
 * P4. A policy is a list of such decisions, one for the tree and one for each profile on the way down; the strictest counts. So a child can only narrow.
 *     What a profile allows of a tool is all that it allows of it; of tools for which it allows nothing it leaves the matter to the others.
 * P5. A `bash` pattern allows the very text that it is, and a plain command: no operators, redirections, substitutions.
 *     What such a command runs in its turn (`timeout 5 …`, `git -c …`) must match, too, unless the program is an interpreter.
 * P6. Deny and ask patterns for `bash` look at every simple command of a compound, and at the whole text. Where
 *     the text does not tell what would run, the call is denied or asked about.
 * P7. Deny and ask patterns for paths cover what is inside a matching folder too, and know no case; allow patterns do not.
 * P8. They bind every tool that touches such a path: those of `read` whatever reads it, those of `write` whatever writes it.
 */
export interface Policy {
  readonly levels: readonly PolicyLevel[];
}

/** `unsaid`: what a profile says by not saying it. */
export type RuleSource = 'cli' | 'config' | 'profile' | 'unsaid' | 'default';

export type PolicyLevel = Readonly<Record<RuleSource, readonly Rule[]>>;

export interface RuleTexts {
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
}

export interface Decision {
  readonly verdict: Verdict;
  /** For people: `deny(bash:rm *)`, `ask(bash), the default`. */
  readonly rule: string;
}

const nothing: PolicyLevel = { cli: [], config: [], profile: [], unsaid: [], default: [] };
const origin: Readonly<Record<RuleSource, string>> = {
  cli: '',
  config: '',
  profile: ', the profile',
  unsaid: ', beyond what the profile allows',
  default: ', the default',
};

const strictness: Readonly<Record<Verdict, number>> = { allow: 0, ask: 1, deny: 2 };
const sources = ['cli', 'config', 'profile', 'unsaid', 'default'] as const;

const defaultRules: readonly Rule[] = [
  ...['read', 'search', 'think', 'read_image'].map((tool): Rule => ({ verdict: 'allow', tool })),
  ...['bash', 'write', 'patch'].map((tool): Rule => ({ verdict: 'ask', tool })),
  // To look at schedules changes nothing; what else is done with them is asked about.
  ...['list', 'list *', 'show *', 'runs *'].map(
    (pattern): Rule => ({ verdict: 'allow', tool: 'cron', pattern }),
  ),
];

function parseRules(texts: RuleTexts | undefined): Rule[] {
  const verdicts = ['deny', 'ask', 'allow'] as const;
  return verdicts.flatMap((verdict) => (texts?.[verdict] ?? []).map((text) => parseRule(text, verdict)));
}

/** A policy from what the command line, the configuration and the root's own profile say. Throws InvalidRuleError. */
export function createPolicy(
  texts: { readonly cli?: RuleTexts; readonly config?: RuleTexts; readonly profile?: RuleTexts } = {},
): Policy {
  const [cli, config, profile] = [texts.cli, texts.config, texts.profile].map(parseRules);
  return { levels: [{ ...nothing, cli, config, profile, default: defaultRules } as PolicyLevel] };
}

/** What a profile leaves of the policy above it. Throws InvalidRuleError. */
export function createProfilePolicy(texts: RuleTexts): Policy {
  const profile = parseRules(texts);
  const unsaid = profile.flatMap(({ verdict, tool }): Rule[] =>
    verdict === 'allow' ? [{ verdict: 'ask', tool }] : [],
  );
  return { levels: [{ ...nothing, profile, unsaid, default: [{ verdict: 'allow', tool: '*' }] }] };
}

/** The child's policy under its parent's: allowed is only what both allow (P4). */
export function narrow(parent: Policy, child: Policy): Policy {
  const known = new Set(parent.levels.map((level) => JSON.stringify(level)));
  const added = child.levels.filter((level) => !known.has(JSON.stringify(level)));
  return { levels: [...parent.levels, ...added] };
}

/** Whether a rule speaks of a call; `unseen`: because it cannot be told what the command runs. */
type Match = 'yes' | 'no' | { readonly unseen: string };

function matchCommand(rule: Rule, pattern: string, command: CommandMatch): Match {
  if (rule.verdict === 'allow') return command.isAllowed(pattern) ? 'yes' : 'no';
  const caught = command.isCaught(pattern);
  if (caught === undefined) return 'no';
  return caught.unseen === null ? 'yes' : { unseen: caught.unseen };
}

function matchPath(rule: Rule, pattern: string, path: string): Match {
  if (rule.verdict === 'allow') return matchesPath(pattern, path) ? 'yes' : 'no';
  // As a file system would that knows no case.
  const [folded, parts] = [fold(pattern), fold(path).split('/')];
  const within = parts.some((_, at) => matchesPath(folded, parts.slice(0, at + 1).join('/')));
  return within ? 'yes' : 'no';
}

function fold(text: string): string {
  return text.normalize('NFC').toLowerCase();
}

interface PermissionCall {
  readonly tool: string;
  readonly subject: string;
  readonly command: CommandMatch;
}

function match(rule: Rule, { tool, subject, command }: PermissionCall): Match {
  if (!matchesText(rule.tool, tool)) return 'no';
  if (rule.pattern === undefined) return 'yes';
  if (tool === 'bash') return matchCommand(rule, rule.pattern, command);
  if (pathTools.has(tool)) return matchPath(rule, rule.pattern, subject);
  return matchesText(rule.pattern, subject) ? 'yes' : 'no';
}

function describe(verdict: Verdict, rule: Rule, source: RuleSource): string {
  return `${verdict}(${ruleText(rule)})${origin[source]}`;
}

function stricter(one: Decision | undefined, other: Decision): Decision {
  return one !== undefined && strictness[one.verdict] >= strictness[other.verdict] ? one : other;
}

function decideLevel(level: PolicyLevel, call: PermissionCall): Decision {
  for (const source of sources) {
    let found: Decision | undefined;
    for (const rule of level[source]) {
      const matched = match(rule, call);
      if (matched === 'no') continue;
      const said = describe(rule.verdict, rule, source);
      const why =
        matched === 'yes'
          ? said
          : `${said}, for it cannot be seen what the command runs (${matched.unseen}): write it as plain commands`;
      found = stricter(found, { verdict: rule.verdict, rule: why });
    }
    if (found !== undefined) return found;
  }
  return { verdict: 'ask', rule: `no rule for ${call.tool}` };
}

/** What the rules about a path say of one that is touched: a deny or an ask, by the first source that speaks of it. */
function decideTouched(level: PolicyLevel, { path, as, searched }: TouchedPath): Decision | undefined {
  for (const source of sources) {
    const rules = level[source].filter(
      (rule) =>
        matchesText(rule.tool, as) && (rule.pattern === undefined || mayMatchPath(rule, rule.pattern, path)),
    );
    if (rules.length === 0) continue;
    let found: Decision | undefined;
    for (const rule of rules) {
      // A rule without a pattern is about the tool; but what a profile leaves unsaid is the rest of the paths.
      const about_paths = rule.pattern !== undefined || (source === 'unsaid' && searched !== true);
      if (rule.verdict !== 'allow' && about_paths)
        found = stricter(found, {
          verdict: rule.verdict,
          rule: whyTouched(describe(rule.verdict, rule, source), path),
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

/** The strictest that rules about paths say of these; undefined when none binds. */
export function decidePaths(policy: Policy, touched: readonly TouchedPath[]): Decision | undefined {
  let strictest: Decision | undefined;
  for (const level of policy.levels)
    for (const one of touched) {
      const found = decideTouched(level, one);
      if (found !== undefined) strictest = stricter(strictest, found);
    }
  return strictest;
}

/** The deny and ask rules with a pattern that have a say about a tool's calls, as people read them. */
export function partialRules(policy: Policy, tool: string): readonly string[] {
  const texts = new Set<string>();
  for (const level of policy.levels) {
    for (const source of sources) {
      const rules = level[source].filter((rule) => matchesText(rule.tool, tool));
      for (const rule of rules)
        if (rule.verdict !== 'allow' && rule.pattern !== undefined)
          texts.add(describe(rule.verdict, rule, source));
      // This source has decided; what the next one says does not count.
      if (rules.some((rule) => rule.pattern === undefined)) break;
    }
  }
  return [...texts];
}

/**
 * What happens to a call. `subject` is the command for `bash`, the canonical path relative to the agent's folder
 * for tools that take a path (see `permissionSubject`), and `Tool.subject` for all others; `touched` are the paths
 * that it touches. Pure and total.
 */
export function decide(
  policy: Policy,
  tool: string,
  subject: string,
  touched: readonly TouchedPath[] = pathTools.has(tool) ? touchesOf(tool, subject) : [],
): Decision {
  let strictest = decidePaths(policy, touched);
  const call = { tool, subject, command: new CommandMatch(tool === 'bash' ? subject : '') };
  for (const level of policy.levels) strictest = stricter(strictest, decideLevel(level, call));
  return strictest ?? { verdict: 'ask', rule: `no rule for ${tool}` };
}
