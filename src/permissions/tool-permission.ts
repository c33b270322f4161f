import { hash } from 'node:crypto';
import type { ToolPermission } from '../records/tool.ts';

/** Fills in the permission declaration of a tool. By default its calls ask, and patterns match the text of its subject. */
export function toolPermission(
  name: string,
  declared: Partial<Omit<ToolPermission, 'name'>> = {},
): ToolPermission {
  return { default: 'ask', allowed: [], subject: 'text', bound_by: [], ...declared, name };
}

/** How rules judge calls that start workflows. */
export const WORKFLOW_PERMISSION = toolPermission('workflow', { subject: 'script' });

export function scriptHash(source: string): string {
  return hash('sha256', source);
}

/** What rules match of a script: `NAME@HASH`. A pattern of the configuration may be about the name alone, or about exactly these contents. */
export function scriptSubject(name: string, digest: string): string {
  return `${name}@${digest.slice(0, 32)}`;
}

/** The name in a `scriptSubject`. */
export function scriptName(subject: string): string {
  return subject.replace(/@[0-9a-f]{32}$/, '');
}

export function takesPath({ subject }: Pick<ToolPermission, 'subject'>): boolean {
  return subject === 'path' || subject === 'folder';
}

/** Whether a script is named by its path, and not by its name. */
export function isScriptPath(wanted: string): boolean {
  return /[\\/]|\.m?js$/.test(wanted);
}

/** Names of our tools in Claude Code, which other programs share; the first is what its hooks are told. */
export const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  bash: ['Bash'],
  read: ['Read'],
  write: ['Write'],
  patch: ['Edit', 'MultiEdit'],
  search: ['Grep', 'Glob'],
  web_fetch: ['WebFetch'],
  web_search: ['WebSearch'],
};

const OWN_NAMES = new Map(
  Object.entries(OTHER_NAMES).flatMap(([own, names]) => names.map((name) => [name.toLowerCase(), own])),
);

/** Our name of a tool as Claude Code and others call it, in whatever case: `Edit` is `patch`, `mcp__github__list` is `github__list`. */
export function ownToolName(name: string): string {
  return OWN_NAMES.get(name.toLowerCase()) ?? name.replace(/^mcp__(?=.*__)/, '');
}
