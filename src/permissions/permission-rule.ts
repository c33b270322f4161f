import { nameHint } from '../render/nearest-name.ts';
import { matchesText } from './glob-match.ts';

export type Verdict = 'allow' | 'ask' | 'deny';

export interface Rule {
  readonly verdict: Verdict;
  /** A tool's name, or a pattern of names (`*`, `mcp_*`). */
  readonly tool: string;
  /** Undefined: whatever the subject. */
  readonly pattern?: string;
}

export class InvalidRuleError extends Error {
  override readonly name = 'InvalidRuleError';
}

/** As it is written: `bash:git *`. */
export function ruleText(rule: Rule): string {
  return rule.pattern === undefined ? rule.tool : `${rule.tool}:${rule.pattern}`;
}

/**
 * Reads a rule: `TOOL` or `TOOL:PATTERN`, for example `bash`, `bash:git *`, `write:src/**`, `*`.
 * Throws InvalidRuleError with a sentence for the person who wrote it.
 */
export function parseRule(text: string, verdict: Verdict): Rule {
  const invalid = (why: string): InvalidRuleError =>
    new InvalidRuleError(
      `invalid rule "${text}": ${why}; write TOOL or TOOL:PATTERN, for example "bash:git *"`,
    );
  const trimmed = text.trim();
  const colon = trimmed.indexOf(':');
  const tool = colon === -1 ? trimmed : trimmed.slice(0, colon);
  if (tool === '') throw invalid('the name of the tool is missing');
  if (!/^[\w*-]+$/.test(tool)) throw invalid(`"${tool}" is no name of a tool`);
  if (colon === -1) return { verdict, tool };
  const pattern = trimmed.slice(colon + 1).trim();
  if (pattern === '') throw invalid('the pattern behind ":" is missing');
  if (pattern === '*' || pattern === '**') return { verdict, tool };
  if (tool.includes('*'))
    throw invalid('a pattern needs one tool, because commands and paths match differently');
  if (pattern.startsWith('/') || pattern.split('/').includes('..')) {
    if (pathTools.has(tool))
      throw invalid('paths are relative to the folder of the agent and stay inside it');
  }
  return { verdict, tool, pattern };
}

/**
 * The same, for a tool that there is: a rule about any other would silently allow or forbid nothing. Tools of a toolset are none that
 * rules are about.
 */
export function parseKnownRule(text: string, verdict: Verdict, tools: readonly string[]): Rule {
  const rule = parseRule(text, verdict);
  // Uses of an agent program's tools that are none of ours (docs/acp.md).
  const known = [...tools, 'acp'];
  if (known.some((tool) => matchesText(rule.tool, tool))) return rule;
  throw new InvalidRuleError(
    `invalid rule "${text}": there is no tool "${rule.tool}". ${nameHint(rule.tool, known, 'Tools')}`,
  );
}

/** Tools whose subject is a canonical path relative to the agent's folder. */
export const pathTools: ReadonlySet<string> = new Set(['read', 'write', 'patch', 'search', 'read_image']);
