import { isServerTool } from '../records/server-tools.ts';
import type { ToolPermission, Verdict } from '../records/tool.ts';
import { nameHint } from '../render/nearest-name.ts';
import { matchesText, urlPatternFault } from './glob-match.ts';
import { ownToolName, takesPath } from './tool-permission.ts';

export interface Rule {
  readonly verdict: Verdict;
  /** A tool's name, or a pattern of names (`*`, `files__*`). */
  readonly tool: string;
  /** Undefined: matches every subject. */
  readonly pattern?: string;
}

export class InvalidRuleError extends Error {
  override readonly name = 'InvalidRuleError';
}

/** Formats a rule as it is written: `bash:git *`. */
export function ruleText(rule: Rule): string {
  return rule.pattern === undefined ? rule.tool : `${rule.tool}:${rule.pattern}`;
}

/**
 * Parses a rule: `TOOL` or `TOOL:PATTERN`, for example `bash`, `bash:git *`, `write:src/**`, `*`.
 * Throws InvalidRuleError with a message for the person who wrote it.
 */
export function parseRule(text: string, verdict: Verdict): Rule {
  const invalid = (why: string) => invalidRule(text, why);
  const trimmed = text.trim();
  const colon = trimmed.indexOf(':');
  const tool = colon === -1 ? trimmed : trimmed.slice(0, colon);
  if (tool === '') throw invalid('the name of the tool is missing');
  if (!/^[\w*-]+$/.test(tool)) throw invalid(`"${tool}" is not the name of a tool`);
  if (colon === -1) return { verdict, tool };
  const pattern = trimmed.slice(colon + 1).trim();
  if (pattern === '') throw invalid('the pattern after ":" is missing');
  if (pattern === '*' || pattern === '**') return { verdict, tool };
  if (tool.includes('*'))
    throw invalid('a pattern needs one tool, because commands and paths match differently');
  return { verdict, tool, pattern };
}

function invalidRule(text: string, why: string): InvalidRuleError {
  return new InvalidRuleError(
    `invalid rule "${text}": ${why}; write TOOL or TOOL:PATTERN, for example "bash:git *"`,
  );
}

/** A path that begins at another place than the folder; a folder called ~ is written ./~. */
const OUTSIDE = /^(?:\/|~(?:\/|$)|\$\{?HOME\b|file:|[a-z]:[\\/])/i;

/** Why a pattern of a path or a command would match nothing that its writer means; null if it may. */
function patternFault(pattern: string, tool: ToolPermission): string | null {
  if (/^(["']).*\1$/.test(pattern)) return 'write the pattern without quotes around it';
  if (!takesPath(tool)) return null;
  if (OUTSIDE.test(pattern) || pattern.split('/').includes('..'))
    return 'paths are relative to the folder of the agent and stay inside it';
  if (/^\.\/?$/.test(pattern)) return `for the whole folder write ${tool.name}`;
  if (pattern.startsWith('!')) return 'a pattern cannot be turned round: allow or deny what it names';
  return /\{[^{}]*,[^{}]*\}/.test(pattern) ? 'write a rule for each of what stands in braces' : null;
}

/** A rule in the form of other programs (`Bash(npm run test:*)`, `mcp__github__create`, `Edit`) in ours; null for every other. */
function ruleHere(text: string): string | null {
  const [, server] = /^mcp__([^*]+)$/.exec(text) ?? [];
  if (server !== undefined) return server.includes('__') ? server : `${server}__*`;
  const [, name = text, pattern] = /^(\w+)\((.*)\)$/s.exec(text) ?? [];
  const own = ownToolName(name);
  if (pattern === undefined) return own === name || own === name.toLowerCase() ? null : own;
  return `${own}:${pattern.replace(/^domain:/, '').replace(/:\*$/, ' *')}`;
}

/**
 * As `parseRule`, but also rejects a rule about an unknown tool or about a path that no tool can reach, which would silently have no effect.
 * Among the tools of toolsets, rules apply only to those that create agents, and only if they name them.
 */
export function parseKnownRule(text: string, verdict: Verdict, tools: readonly ToolPermission[]): Rule {
  const here = ruleHere(text.trim());
  if (here !== null)
    throw new InvalidRuleError(`invalid rule "${text}": other programs write it so; here it is "${here}"`);
  const rule = parseRule(text, verdict);
  // `acp` stands for those tools of an agent program that have no counterpart here (docs/acp.md).
  const reached = tools.filter(({ name, subject }) => subject !== 'agents' || name === rule.tool);
  const known = [...reached.map(({ name }) => name), 'acp'];
  // The tools of an MCP server are known only while it runs.
  if (!isServerTool(rule.tool) && !known.some((tool) => matchesText(rule.tool, tool)))
    throw new InvalidRuleError(
      `invalid rule "${text}": there is no tool "${rule.tool}". ${nameHint(rule.tool, known, 'Tools')}`,
    );
  const { pattern = '' } = rule;
  if (pattern !== '' && reached.some(({ name, subject }) => name === rule.tool && subject === 'agents'))
    throw invalidRule(text, `calls of ${rule.tool} are judged as a whole, without a pattern`);
  if (reached.some(({ name, subject }) => name === rule.tool && subject === 'url')) {
    const fault = urlPatternFault(pattern);
    if (fault !== null) throw invalidRule(text, fault);
  }
  const written = tools.find((tool) => tool.name === rule.tool);
  const fault = written === undefined ? null : patternFault(pattern, written);
  if (fault !== null) throw invalidRule(text, fault);
  return rule;
}
