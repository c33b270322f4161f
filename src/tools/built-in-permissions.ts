import { InvalidRuleError, parseKnownRule } from '../permissions/rule.ts';
import { toolPermission } from '../permissions/tool-permission.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import type { ToolPermission, Verdict } from '../records/tool.ts';

/** How rules judge the built-in tools. Separate from the tools, so that code that needs only names and rules loads no tool. */
export const BUILT_IN_PERMISSIONS = {
  // A command reads and writes the files that it names, as far as can be determined.
  bash: toolPermission('bash', { subject: 'command', bound_by: ['read', 'write'] }),
  read: toolPermission('read', { default: 'allow', subject: 'path', bound_by: ['read'] }),
  write: toolPermission('write', { subject: 'path', bound_by: ['write'] }),
  // Its result shows the lines around the edits.
  patch: toolPermission('patch', { subject: 'path', bound_by: ['read', 'write', 'patch'] }),
  search: toolPermission('search', { default: 'allow', subject: 'folder', bound_by: ['read', 'search'] }),
  think: toolPermission('think', { default: 'allow' }),
  read_image: toolPermission('read_image', {
    default: 'allow',
    subject: 'path',
    bound_by: ['read', 'read_image'],
  }),
  skill: toolPermission('skill', { default: 'allow' }),
  web_fetch: toolPermission('web_fetch', { subject: 'url', only_reads: true }),
  web_search: toolPermission('web_search', { only_reads: true }),
} as const;

/** Tools of toolsets that create agents: rules may ask about these calls or deny them, those of `slash` only if they fork. */
export const CREATION_PERMISSIONS = [
  'fork',
  'slash',
  'spawn_agents',
  'sessions_spawn',
  'subagent_spawn',
  'subagent_delegate',
].map((name) => toolPermission(name, { default: 'allow', subject: 'agents' }));

/** Returns how rules judge a tool that is known only by its name, as for the actions of agent programs and for files attached to a message. */
export function permissionOf(name: string): ToolPermission {
  return Object.hasOwn(BUILT_IN_PERMISSIONS, name)
    ? BUILT_IN_PERMISSIONS[name as keyof typeof BUILT_IN_PERMISSIONS]
    : toolPermission(name);
}

/** Throws `E_CONFIG` for a malformed rule. */
export function ruleAt<T>(where: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof InvalidRuleError)) throw error;
    throw new CoppiceError('E_CONFIG', `${where}: ${error.message}`, { cause: error });
  }
}

type Rules = { readonly [Each in Verdict]?: readonly string[] | undefined };

/** Throws `E_CONFIG` for a rule that is malformed or about an unknown tool. */
export function checkRules(
  rules: Rules | undefined,
  tools: readonly ToolPermission[],
  where: (verdict: Verdict) => string,
): void {
  for (const verdict of ['allow', 'ask', 'deny'] as const)
    for (const rule of rules?.[verdict] ?? [])
      ruleAt(where(verdict), () => parseKnownRule(rule, verdict, [...tools, ...CREATION_PERMISSIONS]));
}
