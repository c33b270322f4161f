import { CommandMatch } from '../permissions/command-match.ts';
import { matchRule } from '../permissions/decide.ts';
import { InvalidRuleError, parseKnownRule, parseRule, type Rule, ruleText } from '../permissions/rule.ts';
import { takesPath } from '../permissions/tool-permission.ts';
import { commandWrites } from '../permissions/touched-paths.ts';
import type { Deed } from '../records/agent/deeds.ts';
import { keptIn } from '../records/kept-in.ts';
import type { ToolPermission, ToolResult } from '../records/tool.ts';

/**
 * Evidence that a profile requires of its agents: a call and how it ended, `bash:npm test exit 0` or `read:docs/** ok` (docs/profiles.md). The call is
 * written like a rule and matches as an allow rule does: a command only by its own text or as a plain command, so that `npm test || true` proves nothing.
 */
interface Evidence {
  readonly rule: Rule;
  /** Absent if the call must succeed. */
  readonly exit?: number;
}

/** Throws InvalidRuleError. `tools`: all tools; absent if the text was checked before. */
function parseEvidence(text: string, tools?: readonly ToolPermission[]): Evidence {
  const [, call = text, end] = /^(.*\S)\s+(ok|exit\s+\S+)\s*$/s.exec(text) ?? [];
  const rule = tools === undefined ? parseRule(call, 'allow') : parseKnownRule(call, 'allow', tools);
  if (end === undefined || end === 'ok') return { rule };
  const code = end.replace(/^exit\s+/, '');
  const exit = /^\d{1,3}$/.test(code) ? Number(code) : Number.NaN;
  if (!(exit <= 255))
    throw new InvalidRuleError(
      `invalid evidence "${text}": an exit code is a number from 0 to 255, not "${code}"`,
    );
  if (tools?.some(({ name, subject }) => name === rule.tool && subject !== 'command') === true)
    throw new InvalidRuleError(
      `invalid evidence "${text}": ${rule.tool} has no exit code; write "${call} ok"`,
    );
  return { rule, exit };
}

/** The evidence in the form in which it is stored: checked, and without superfluous blanks. Throws InvalidRuleError. */
export function evidenceText(text: string, tools: readonly ToolPermission[]): string {
  const { rule, exit } = parseEvidence(text, tools);
  return `${ruleText(rule)} ${exit === undefined ? 'ok' : `exit ${exit}`}`;
}

/** Each text is parsed once; the number of texts in profiles bounds this. */
const evidenceByText = new Map<string, Evidence>();

/** Describes a call for the counters of its agent. `subject`: as for rules; `require`: the evidence that its profile requires. */
export function deedOf(
  tool: ToolPermission,
  subject: string,
  cwd: string,
  result: ToolResult,
  require: readonly string[] = [],
): Deed {
  const { exit_code } = 'exit_code' in result ? result : {};
  const is_command = tool.subject === 'command';
  const wrote = takesPath(tool) && tool.bound_by.includes('write');
  const spoils = require.length > 0 && (wrote || (is_command && commandWrites(subject, cwd)));
  const command = new CommandMatch(is_command ? subject : '');
  const about = require.flatMap((text, place) => {
    const { rule, exit } = keptIn(evidenceByText, text, (one) => parseEvidence(one));
    if (matchRule(rule, { tool, subject, command }) !== 'yes') return [];
    return [{ place, met: exit === undefined ? result.status === 'ok' : exit_code === exit }];
  });
  return {
    ...(is_command ? { command: subject } : {}),
    ...(exit_code === undefined ? {} : { exit: exit_code }),
    ...(wrote ? { wrote: subject } : {}),
    ...(spoils ? { spoils } : {}),
    ...(about.length === 0 ? {} : { evidence: about }),
  };
}
