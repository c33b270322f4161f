import { type Ask, type AskAnswer, type NewAsk, RULE_BREAK } from '../../records/conversation/ask.ts';
import { CommandMatch } from '../command-match.ts';
import { matchRule } from '../decide.ts';
import { InvalidRuleError, parseRule, type Rule } from '../rule.ts';

/**
 * A rule that a person granted in answer to a question (docs/approvals.md).
 *
 * G1. A grant turns `ask` into `allow`, but never overrides `deny`.
 * G2. It covers calls that its rule matches as an allow rule, if each rule that asks about the call also asked in a question answered by such a
 *     grant; any other rule still asks.
 * G3. Path rules apply only in the folder in which they were granted.
 */
export interface Grant {
  /** An allow rule. */
  readonly rule: string;
  /** The rules that asked, as shown in the question. */
  readonly asked_by: string;
}

/** The part of a question that describes its call. */
export type AskedCall = Pick<NewAsk, 'tool' | 'subject' | 'subject_kind'>;

/** The grant of an answered question; null if there is none or it was revoked. */
export function grantOf({ verdict, scope, granted, revoked_at, tool, rule }: Ask): Grant | null {
  if (verdict !== 'allow' || scope === 'once' || revoked_at !== null) return null;
  return { rule: granted ?? tool, asked_by: rule };
}

/** Whether the grants cover a call about which the rules in `asks` ask. */
export function isCovered(grants: readonly Grant[], asks: readonly string[], call: AskedCall): boolean {
  const matching = grants.filter(({ rule }) => coversCall(rule, call));
  const answered = new Set(matching.flatMap(({ asked_by }) => asked_by.split(RULE_BREAK)));
  return asks.length > 0 && asks.every((rule) => answered.has(rule));
}

/**
 * Whether the text is an allow rule that matches the call. A call of unknown kind, or one that creates agents, is matched only by a rule without a pattern.
 * A question is matched by no rule, and a script only by the rule for exactly its contents.
 */
export function coversCall(text: string, { tool, subject, subject_kind }: AskedCall): boolean {
  if (subject_kind === 'question') return false;
  const rule = ruleOrFault(text);
  const is_whole = subject_kind === null || subject_kind === 'agents';
  if (typeof rule === 'string' || (is_whole && rule.pattern !== undefined)) return false;
  if (subject_kind === 'script') return rule.tool === tool && rule.pattern === subject;
  const kind = subject_kind ?? 'text';
  const command = new CommandMatch(kind === 'command' ? subject : '');
  return matchRule(rule, { tool: { name: tool, subject: kind }, subject, command }) === 'yes';
}

/** The allow rule, or why the text is none. */
function ruleOrFault(text: string): Rule | string {
  try {
    return parseRule(text, 'allow');
  } catch (error) {
    if (error instanceof InvalidRuleError) return error.message;
    throw error;
  }
}

/** Returns, for the person who wrote the rule, why it cannot be granted for this call; null if it can. */
export function grantFault(text: string, call: AskedCall): string | null {
  const rule = ruleOrFault(text);
  if (typeof rule === 'string') return rule;
  if (rule.tool !== call.tool)
    return `the rule "${text}" is not about ${call.tool}: write ${call.tool}:PATTERN`;
  return coversCall(text, call) ? null : `the rule "${text}" does not match this call`;
}

/** Location of an agent, which decides where grants apply. */
export interface GrantPlace {
  readonly agent_id: string;
  readonly root_id: string;
  readonly cwd: string;
}

/** Whether a grant made at one place applies at another. Whether the turn of a `turn` grant has ended, only the agent's state shows. */
export function reaches(
  scope: Ask['scope'],
  from: GrantPlace & Pick<NewAsk, 'subject_kind'>,
  to: GrantPlace,
): boolean {
  switch (scope) {
    case 'turn':
    case 'agent':
      return from.agent_id === to.agent_id;
    case 'session': {
      const anywhere = from.subject_kind !== 'path' && from.subject_kind !== 'folder';
      return from.root_id === to.root_id && (anywhere || from.cwd === to.cwd);
    }
    case 'always':
      return from.cwd === to.cwd;
    default:
      return false;
  }
}

/** Other open questions that a grant also answers. */
export function coveredBy(
  grant: { readonly ask: Ask; readonly scope: AskAnswer['scope']; readonly rule: string },
  open: readonly Ask[],
): readonly Ask[] {
  const { ask, scope, rule } = grant;
  return open.filter(
    (other) =>
      other.id !== ask.id &&
      reaches(scope, ask, other) &&
      isCovered([{ rule, asked_by: ask.rule }], other.rule.split(RULE_BREAK), other),
  );
}
